import "./history.css";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { counted, thousands } from "../figures";
import type { Entry, Environment } from "../types";
import { RewardChart } from "./chart";
import { FilterBar } from "./filter_bar";
import { nameOf } from "./format";
import { EntryList } from "./list";
import type { Log } from "./log";
import { ClearQuestion } from "./clearing";
import { CopyMenu, FileMenu } from "./menus";
import { EVERYTHING, type Filter, Shown } from "./shown";

interface Props {
  log: Log;
  environment: Environment;
  /** The entry that is being looked at. */
  selected: Entry | null;
  onSelect: (entry: Entry) => void;
  /** Sends an entry's action again. */
  onReplay?: (entry: Entry) => void;
  onClear?: () => void;
  /** Shows a file; its rejection is said here. */
  onOpen?: (file: File) => Promise<void> | void;
  title?: string;
}

/** What was done and what came of it: to look through, to send again, to copy and to keep. */
export function HistoryPane(props: Props) {
  const { log, selected, onSelect } = props;
  const id = useId();
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const [said, setSaid] = useState("");
  const { entries, gone } = useShown(log, filter);
  return (
    <section class="history-pane" aria-labelledby={id}>
      <Bar {...props} id={id} shown={entries} onSaid={setSaid} />
      {said && (
        <p class="history-said" role="alert">
          {said}
        </p>
      )}
      {log.length === 0 ? (
        <p class="history-empty">Nothing yet.{props.onReplay && " Reset begins an episode."}</p>
      ) : (
        <>
          <RewardChart entries={entries} onSelect={onSelect} />
          <FilterBar filter={filter} episodes={log.last?.episode ?? 1} onChange={setFilter} />
          {entries.length > 0 ? (
            <EntryList entries={entries} gone={gone} selected={selected} onSelect={onSelect} />
          ) : (
            <p class="history-empty history-none">No entry matches the filter.</p>
          )}
        </>
      )}
    </section>
  );
}

interface BarProps extends Props {
  id: string;
  shown: readonly Entry[];
  onSaid: (message: string) => void;
}

/** The history's name, and what can be done with it. */
function Bar(props: BarProps) {
  const { id, log, title = "History", onClear } = props;
  const [isAsking, setAsking] = useState(false);
  return (
    <div class="history-bar">
      <h2 id={id}>{title}</h2>
      {isAsking && onClear && log.length > 0 ? (
        <ClearQuestion count={log.length} onClear={onClear} onDone={() => setAsking(false)} />
      ) : (
        <>
          <p class="history-count">{countOf(log)}</p>
          <Buttons {...props} onAsk={() => setAsking(true)} />
        </>
      )}
    </div>
  );
}

function Buttons({ log, environment, selected, shown, onAsk, ...can }: BarProps & { onAsk: () => void }) {
  const { onReplay, onClear, onOpen, onSaid } = can;
  const meant = selected ?? log.last;
  return (
    <div class="history-buttons">
      {meant && onReplay && (
        <button
          type="button"
          class="button history-again"
          title={`Sends it again: ${nameOf(meant)}`}
          onClick={() => onReplay(meant)}
        >
          {againOf(meant)}
        </button>
      )}
      {meant && <CopyMenu log={log} environment={environment} shown={shown} entry={meant} />}
      {(log.length > 0 || onOpen) && (
        <FileMenu log={log} environment={environment} onSaid={onSaid} onOpen={onOpen} />
      )}
      {onClear && log.length > 0 && (
        <button type="button" class="button" onClick={onAsk}>
          Clear
        </button>
      )}
    </div>
  );
}

function againOf({ error, kind, step }: Entry): string {
  if (error) return "Try it again";
  return kind === "reset" ? "Repeat reset" : `Repeat step ${step}`;
}

function useShown(log: Log, filter: Filter): { entries: readonly Entry[]; gone: number } {
  const shown = useRef(new Shown());
  const known = useRef(log);
  const version = log.version.value;
  return useMemo(() => {
    if (known.current !== log) shown.current = new Shown();
    known.current = log;
    const gone = shown.current.refresh(log, filter);
    return { entries: shown.current.entries, gone };
  }, [log, filter, version]);
}

function countOf(log: Log): string {
  const count = log.length > 0 ? counted(log.length, "entry", "entries") : "";
  return log.dropped > 0 ? `${count}; the oldest ${thousands(log.dropped)} were forgotten` : count;
}
