import { useEffect } from "preact/hooks";
import type { Desk } from "../store";
import { Tree } from "../view/tree";
import { Failure } from "./failure";

/** Where the newest episode stands, as the environment tells it. */
export function StatePanel({ desk }: { desk: Desk }) {
  const newest = desk.newest.value;
  const state = desk.state.value;
  useEffect(() => {
    if (newest?.result) void desk.look();
  }, [newest, desk]);
  return (
    <section class="shell-pane shell-state" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      {state ? <Tree value={state} /> : <p class="shell-muted">Known once an episode has begun.</p>}
      {desk.stateError.value && <Failure error={desk.stateError.value} />}
    </section>
  );
}
