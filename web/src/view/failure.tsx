import type { Failure } from "./kind";
import { LongText } from "./text";
import { printed } from "./texts";
import { Tree } from "./tree";

/** What went wrong, so that nobody misses it. */
export function FailureView({ failure, path }: { failure: Failure; path: string }) {
  const { title, message, rest } = failure;
  return (
    <div class="view-failure">
      {title && <strong>{title}</strong>}
      {message && (
        <LongText
          text={printed(message)}
          mono={message.includes("\n")}
          bad
          path={path}
          label={title || "error"}
        />
      )}
      {Object.keys(rest).length > 0 && <Tree value={rest} path={path} />}
    </div>
  );
}
