import { useEffect, useState } from "preact/hooks";
import type { Desk } from "../store";
import type { Status, WireError } from "../types";

/** How long a step runs before anything is said of it. */
const PATIENCE_S = 3;
const TOLD = new Set<Status["phase"]>(["queued", "reconnecting", "lost", "copied", "full", "refused"]);

/** What stands in the way of the next step, if anything, and what can be done about it. */
export function Notices({ desk }: { desk: Desk }) {
  const status = desk.session.status.value;
  const error = desk.newest.value?.error;
  const fieldless = error && error.faults.length === 0 ? error : undefined;
  return (
    <div class="shell-notices" aria-live="polite">
      {TOLD.has(status.phase) && (
        <p class={`shell-notice shell-${status.phase}`}>
          <span>{status.message}</span>
          {status.phase === "queued" && (
            <button type="button" class="button" onClick={() => void desk.session.leave()}>
              Leave the queue
            </button>
          )}
          {status.phase === "lost" && <BeginAgain desk={desk} />}
        </p>
      )}
      {desk.busy.value && <Running desk={desk} />}
      {fieldless && !TOLD.has(status.phase) && <Failure error={fieldless} />}
      {desk.over.value && (
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

/** An error as the server told it. */
export function Failure({ error }: { error: WireError }) {
  return (
    <p class="shell-notice shell-failure">
      <span>
        <strong>{error.code}</strong> {error.message}
      </span>
    </p>
  );
}
