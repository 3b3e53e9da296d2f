/** Which buttons an environment's actions make: its own, else those of a small choice in the schema. */
import type { Json, QuickAction, Result, Schema } from "../types";

const MOST = 24;
const ARROWS: Record<string, string> = {
  up: "ArrowUp",
  down: "ArrowDown",
  left: "ArrowLeft",
  right: "ArrowRight",
  north: "ArrowUp",
  south: "ArrowDown",
  west: "ArrowLeft",
  east: "ArrowRight",
  fire: " ",
};

/** The buttons to show now. An episode that is over has none of the environment's own. */
export function quickActions(schema: Schema, result: Result | null): QuickAction[] {
  const own = result?.view?.actions ?? [];
  return withKeys(own.length > 0 ? own : fromSchema(schema));
}

/** The buttons of an action that is one choice among few: an enum, a boolean or a small range. */
export function fromSchema(schema: Schema): QuickAction[] {
  const properties = Object.entries(schema.properties ?? {});
  const wanted = properties.filter(([name]) => schema.required?.includes(name));
  const [sole] = wanted;
  if (!sole || wanted.length > 1) return [];
  const [name, part] = sole;
  return choices(resolved(schema, part)).map((value) => ({
    label: String(value),
    action: { [name]: value },
  }));
}

function resolved(root: Schema, part: Schema): Schema {
  const target = part.$ref ?? (part.allOf?.length === 1 ? part.allOf[0]?.$ref : undefined);
  return target ? (root.$defs?.[target.split("/").at(-1) ?? ""] ?? part) : part;
}

function choices(part: Schema): Json[] {
  if (part.enum) return part.enum.length <= MOST ? part.enum : [];
  if (part.type === "boolean") return [true, false];
  if (part.type !== "integer") return [];
  const low = part.minimum ?? (part.exclusiveMinimum ?? NaN) + 1;
  const high = part.maximum ?? (part.exclusiveMaximum ?? NaN) - 1;
  if (!(high - low < MOST)) return [];
  return Array.from({ length: high - low + 1 }, (_, at) => low + at);
}

/** The same with a key each, as far as keys go: directions by arrows, the others by digits. */
export function withKeys(actions: QuickAction[]): QuickAction[] {
  const taken = new Set(actions.map((each) => each.key));
  let digit = 1;
  const free = (): string | undefined => {
    while (digit <= 9 && taken.has(String(digit))) digit += 1;
    return digit <= 9 ? String(digit++) : undefined;
  };
  return actions.map((each) => {
    if (each.key) return each;
    const arrow = ARROWS[each.label.toLowerCase()];
    const key = arrow && !taken.has(arrow) ? arrow : free();
    if (!key) return each;
    taken.add(key);
    return { ...each, key };
  });
}

const NAMES: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
  Enter: "⏎",
};

/** A key as people read it. */
export function keyName(key: string): string {
  return NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}
