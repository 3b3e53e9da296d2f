import type { Json, JsonObject } from "../types";
import { Changed } from "./changed";
import { More, usePortion } from "./more";
import { usePlace } from "./places";
import { child, same, sizeOf } from "./same";
import { ShortText } from "./text";

const CHILDREN = 100;
const OPENED = 30;
const DEEPEST = 50;

interface NodeProps {
  name: string;
  value: Json;
  previous: Json | undefined;
  path: string;
  depth: number;
  /** How many branches beside it have as much right to be open. */
  beside: number;
}

/** Nested values to open one by one; what `previous` had otherwise is marked. */
export function Tree({ value, previous, path = "" }: {
  value: Json;
  previous?: Json | undefined;
  path?: string;
}) {
  if (typeof value !== "object" || value === null) return <Leaf value={value} path={path} />;
  return <div class="view-tree"><Children value={value} previous={previous} path={path} depth={0} /></div>;
}

function Children({ value, previous, path, depth }: Omit<NodeProps, "name" | "value" | "beside"> & { value: Json[] | JsonObject }) {
  const names = Array.isArray(value) ? null : Object.keys(value);
  const total = sizeOf(value);
  const portion = usePortion(path, CHILDREN, total);
  const shown = names ? names.slice(0, portion.shown) : Array.from({ length: portion.shown }, (_, index) => String(index));
  return (
    <>
      <ul>
        {shown.map((name) => (
          <Node key={name} name={name} value={child(value, name) ?? null} previous={previous} path={`${path}/${name}`} depth={depth} beside={total} />
        ))}
      </ul>
      <More portion={portion} unit={names ? "fields" : "items"} />
    </>
  );
}

function Node({ name, value, previous, path, depth, beside }: NodeProps) {
  const was = child(previous, name);
  const changed = previous !== undefined && !same(was, value);
  const nested = typeof value === "object" && value !== null && sizeOf(value) > 0;
  return (
    <li>
      {nested ? (
        <Branch name={name} value={value} previous={was} path={path} depth={depth} beside={beside} changed={changed} />
      ) : (
        <>
          <span class="view-key">{name}</span> <Leaf value={value} path={path} /> {changed && <Changed was={was} />}
        </>
      )}
    </li>
  );
}

function Branch({ name, value, previous, path, depth, beside, changed }: NodeProps & { value: Json[] | JsonObject; changed: boolean }) {
  const size = sizeOf(value);
  const [open, setOpen] = usePlace(`open:${path}`, depth === 0 && size * beside <= OPENED ? 1 : 0);
  const deep = depth >= DEEPEST;
  return (
    <details open={open === 1} onToggle={(event) => setOpen(event.currentTarget.open ? 1 : 0)}>
      <summary>
        <span class="view-key">{name}</span>{" "}
        <span class="view-muted">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span> {changed && <Changed was={previous} />}
      </summary>
      {open === 1 && deep && <p class="view-muted">Deeper than is shown here: copy the observation to see it.</p>}
      {open === 1 && !deep && <Children value={value} previous={previous} path={path} depth={depth + 1} />}
    </details>
  );
}

/** A value that holds no others. */
export function Leaf({ value, path }: { value: Json; path: string }) {
  if (typeof value === "string") return <span class="view-string"><ShortText text={JSON.stringify(value)} path={path} /></span>;
  if (typeof value === "object" && value !== null) return <span class="view-muted">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return <span class={value === null ? "view-muted" : "view-number"}>{String(value)}</span>;
}
