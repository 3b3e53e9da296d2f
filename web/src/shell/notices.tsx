import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Desk } from "../store";
import type { Status } from "../types";
import { Failure } from "./failure";

/** How long a step runs before anything is said of it. */
const PATIENCE_S = 3;
const TOLD = new Set<Status["phase"]>(["queued", "reconnecting", "lost", "copied", "full", "refused"]);
/** What the observation's pane asks a token for, and what somebody did himself. */
const SAID_ELSEWHERE = new Set(["UNAUTHORIZED", "CONTROL_CLOSED", "CANCELLED"]);

/** What stands in the way of the next step, if anything, and what can be done about it. */
export function Notices({ desk }: { desk: Desk }) {
  const status = desk.session.status.value;
  const error = desk.newest.value?.error;
  const isLocked = status.phase === "refused" && SAID_ELSEWHERE.has(error?.code ?? "");
  const isTold = TOLD.has(status.phase) && !isLocked;
  const read = useSignal(-1);
  const isNews = !isTold && desk.newest.value?.index !== read.value;
  const fieldless = error?.faults.length === 0 && !SAID_ELSEWHERE.has(error.code) ? error : undefined;
  return (
    <div class="shell-notices" aria-live="polite">
      {(isTold || desk.gone.value) && (
        <p class={`shell-notice shell-${status.phase}`}>
          <span>{status.message}</span>
          {status.phase === "queued" && (
            <button type="button" class="button" onClick={() => void desk.session.leave()}>
              Leave the queue
            </button>
          )}
          {desk.gone.value && <BeginAgain desk={desk} />}
        </p>
      )}
      {desk.busy.value && <Running desk={desk} />}
      {fieldless && isNews && (
        <Failure error={fieldless}>
          <button
            type="button"
            class="button"
            onClick={() => {
              read.value = desk.newest.value?.index ?? -1;
            }}
          >
            Dismiss
          </button>
        </Failure>
      )}
      {desk.over.value && !desk.gone.value && (
        <p class="shell-notice">
          <span>The episode is over.</span>
          <BeginAgain desk={desk} />
        </p>
      )}
    </div>
  );
}

function BeginAgain({ desk }: { desk: Desk }) {
  return (
    <button type="button" class="button" onClick={() => void desk.reset()}>
      Begin a new one
    </button>
  );
}

/** A step that takes long: for how long already, and the way out. */
function Running({ desk }: { desk: Desk }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - began) / 1000)), 500);
    return () => clearInterval(timer);
  }, []);
  if (seconds < PATIENCE_S || desk.session.status.value.phase !== "busy") return null;
  return (
    <p class="shell-notice" aria-live="off">
      <span>The environment has been running for {seconds} s.</span>
      <button type="button" class="button" onClick={() => void desk.session.leave()}>
        End the session
      </button>
    </p>
  );
}
