import type { ComponentChildren } from "preact";
import type { WireError } from "../types";

interface Props {
  error: WireError;
  /** What can be done about it. */
  children?: ComponentChildren;
}

/** An error as the server told it: its code, its class and text, and where it was raised if the server says so. */
export function Failure({ error, children }: Props) {
  const { exception, traceback } = error.details;
  const kind = typeof exception === "string" && !error.message.includes(exception) ? `${exception}: ` : "";
  return (
    <div class="shell-notice shell-failure">
      <div>
        <strong>{error.code}</strong> {kind}
        {error.message}
        {typeof traceback === "string" && (
          <details>
            <summary>Traceback</summary>
            <pre>{traceback}</pre>
          </details>
        )}
        {error.code === "EXECUTION_ERROR" && traceback === undefined && (
          <p class="shell-muted">With OPENENV_TRACEBACKS=1 the server says where it was raised.</p>
        )}
      </div>
      {children}
    </div>
  );
}
