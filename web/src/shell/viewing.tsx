import { useSignal } from "@preact/signals";
import { nameOf } from "../history/format";
import { HistoryPane } from "../history/pane";
import type { Opened } from "../history/files";
import { earlier } from "../play/earlier";
import type { Entry } from "../types";
import { ObservationView } from "../view/observation";
import { Header } from "./header";
import { Failure } from "./failure";

interface Props extends Opened {
  onClose?: () => void;
}

/** An episode that was exported, to look at: nothing can be sent. */
export function Viewing({ log, environment, onClose }: Props) {
  const selected = useSignal<Entry | null>(log.length > 0 ? log.at(log.length - 1) : null);
  const entry = selected.value;
  return (
    <>
      <Header environment={environment} status={null} />
      <main class="shell-main shell-viewing">
        <p class="shell-notice">
          <span>This is a saved history: look around, nothing is sent anywhere.</span>
          {onClose && (
            <button type="button" class="button" onClick={onClose}>
              Back to the environment
            </button>
          )}
        </p>
        <div class="shell-desk">
          <HistoryPane
            log={log}
            selected={entry}
            onSelect={(chosen) => {
              selected.value = chosen;
            }}
            environment={environment}
          />
          <section class="shell-pane shell-observation" aria-labelledby="observation-title">
            <div class="shell-heading">
              <h2 id="observation-title">Observation</h2>
              {entry && <p class="shell-older">{nameOf(entry)}</p>}
            </div>
            {entry?.error && <Failure error={entry.error} />}
            {entry?.result && <ObservationView result={entry.result} previous={earlier(log, entry)} />}
          </section>
        </div>
      </main>
    </>
  );
}
