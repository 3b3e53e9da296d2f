import { thousands } from "../figures";
import type { Json } from "../types";
import { Blocks } from "./blocks";
import { areBlocks, type Message } from "./lists";
import { usePortion } from "./more";
import { Prose } from "./prose";
import { Tree } from "./tree";

const LATEST = 30;

/** A conversation, its latest messages first to be seen. */
export function Messages({ messages, path }: { messages: Message[]; path: string }) {
  const { shown, total, more } = usePortion(path, LATEST, messages.length);
  const from = total - shown;
  return (
    <div class="view-block">
      {from > 0 && (
        <button type="button" class="button button-small" onClick={more}>
          Show earlier <span class="view-muted">({thousands(from)} more)</span>
        </button>
      )}
      <ol class="view-messages" start={from + 1}>
        {messages.slice(from).map((message, index) => (
          <Said key={from + index} message={message} path={`${path}/${from + index}`} />
        ))}
      </ol>
    </div>
  );
}

function Said({ message, path }: { message: Message; path: string }) {
  const { role, content, rest } = message;
  return (
    <li class="view-message" data-role={role}>
      <span class="view-role">{role}</span>
      <Content content={content} path={`${path}/content`} label={`what ${role} said`} />
      {Object.keys(rest).length > 0 && <Tree value={rest} path={path} />}
    </li>
  );
}

function Content({ content, path, label }: { content: Json; path: string; label: string }) {
  if (content === null) return null;
  if (typeof content === "string") return <Prose text={content} path={path} label={label} />;
  return areBlocks(content) ? <Blocks blocks={content} path={path} /> : <Tree value={content} path={path} />;
}
