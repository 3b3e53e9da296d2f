import { useMemo } from "preact/hooks";
import { child, isObject, same, sizeOf } from "../json";
import type { Json, JsonObject } from "../types";
import { Canvas, PictureView } from "./canvas";
import { Changed } from "./changed";
import { type Drawing, drawingIn } from "./drawing";
import { More, usePortion } from "./more";
import { usePlace } from "./places";
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
  /** What it stands in. */
  parent: Json[] | JsonObject;
}

/** Nested values to open one by one; what `previous` had otherwise is marked. */
export function Tree({
  value,
  previous,
  path = "",
}: {
  value: Json;
  previous?: Json | undefined;
  path?: string;
}) {
  if (typeof value !== "object" || value === null) return <Leaf value={value} path={path} />;
  return (
    <div class="view-tree">
      <Children value={value} previous={previous} path={path} depth={0} />
    </div>
  );
}

function Children({
  value,
  previous,
  path,
  depth,
}: Omit<NodeProps, "name" | "value" | "parent"> & { value: Json[] | JsonObject }) {
  const names = Array.isArray(value) ? null : Object.keys(value);
  const total = sizeOf(value);
  const portion = usePortion(path, CHILDREN, total);
  const shown = names
    ? names.slice(0, portion.shown)
    : Array.from({ length: portion.shown }, (_, index) => String(index));
  return (
    <>
      <ul>
        {shown.map((name) => (
          <Node
            key={name}
            name={name}
            value={child(value, name) ?? null}
            previous={previous}
            path={`${path}/${name}`}
            depth={depth}
            parent={value}
          />
        ))}
      </ul>
      <More portion={portion} unit={names ? "fields" : "items"} />
    </>
  );
}

function Node({ name, value, previous, path, depth, parent }: NodeProps) {
  const was = child(previous, name);
  const changed = previous !== undefined && !same(was, value);
  const drawing = useMemo(
    () => drawingIn(name, value, isObject(parent) ? parent : undefined),
    [name, value, parent],
  );
  if (!drawing && typeof value === "object" && value !== null && sizeOf(value) > 0) {
    const open = depth === 0 && sizeOf(value) * sizeOf(parent) <= OPENED;
    return (
      <Branch
        name={name}
        value={value}
        previous={was}
        path={path}
        depth={depth}
        changed={changed}
        initially={open}
      />
    );
  }
  return (
    <li>
      <span class="view-key">{name}</span>{" "}
      {drawing ? <Drawn drawing={drawing} label={name} /> : <Leaf value={value} path={path} />}{" "}
      {changed && <Changed was={was} />}
    </li>
  );
}

function Drawn({ drawing, label }: { drawing: Drawing; label: string }) {
  return drawing.kind === "picture" ? (
    <PictureView picture={drawing.picture} label={label} />
  ) : (
    <Canvas pixels={drawing.pixels} label={label} />
  );
}

function Branch({
  name,
  value,
  previous,
  path,
  depth,
  changed,
  initially,
}: Omit<NodeProps, "value" | "parent"> & {
  value: Json[] | JsonObject;
  changed: boolean;
  initially: boolean;
}) {
  const [open, setOpen] = usePlace(`open:${path}`, initially ? 1 : 0);
  const size = sizeOf(value);
  const deep = depth >= DEEPEST;
  return (
    <li>
      <details open={open === 1} onToggle={(event) => setOpen(event.currentTarget.open ? 1 : 0)}>
        <summary>
          <span class="view-key">{name}</span>{" "}
          <span class="view-muted">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>{" "}
          {changed && <Changed was={previous} />}
        </summary>
        {open === 1 && deep && (
          <p class="view-muted">Deeper than is shown here: copy the observation to see it.</p>
        )}
        {open === 1 && !deep && <Children value={value} previous={previous} path={path} depth={depth + 1} />}
      </details>
    </li>
  );
}

/** A value that holds no others. */
function Leaf({ value, path }: { value: Json; path: string }) {
  if (typeof value === "string")
    return (
      <span class="view-string">
        <ShortText text={JSON.stringify(value)} path={path} />
      </span>
    );
  if (typeof value === "object" && value !== null)
    return <span class="view-muted">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return <span class={value === null ? "view-muted" : "view-number"}>{String(value)}</span>;
}
