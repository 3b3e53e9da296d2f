import type { Desk } from "../store";
import type { Status, WireError } from "../types";

const TOLD = new Set<Status["phase"]>(["queued", "reconnecting", "lost", "full", "refused"]);

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
        </p>
      )}
      {fieldless && !TOLD.has(status.phase) && <Failure error={fieldless} />}
      {desk.over.value && (
        <p class="shell-notice">
          <span>The episode is over.</span>
          <button type="button" class="button" onClick={() => void desk.reset()}>
            Begin a new one
          </button>
        </p>
      )}
    </div>
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
