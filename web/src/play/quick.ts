/** Which buttons an environment's actions make: its own, else those of a small choice in the schema. */
import type { Json, QuickAction, Result, Schema } from "../types";

const MOST = 24;
/** How many buttons keep their places. */
const STEADY = 18;
const DIGITS = 9;
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

/** A button, and whether its action can be taken now. */
export interface Button extends QuickAction {
  offered: boolean;
  /** Whether the environment offered it, and not its schema. */
  isOwn: boolean;
}

/**
 * The buttons to show now, in the places that they had: what was offered before and is not any more stays, and is off.
 * Where an environment offers other actions at each step, as chess does, nothing has a place to keep.
 */
export function quickActions(schema: Schema, result: Result | null, before: Button[]): Button[] {
  // A view that failed says nothing of what can be done: what could be done before is offered still.
  const own = result?.view?.error ? before : (result?.view?.actions ?? []);
  const hasOwn = own.length > 0 || before.some((each) => each.isOwn);
  const now = hasOwn ? own : fromSchema(schema);
  const places = steady(before, now);
  const offered = new Map(now.map((each) => [each.label, each]));
  const isOff = (each: QuickAction) => !offered.has(each.label) || (result?.done ?? false);
  return withKeys(places.map((each) => offered.get(each.label) ?? each)).map((each) => ({
    ...each,
    isOwn: hasOwn,
    offered: !isOff(each),
  }));
}

function steady(before: QuickAction[], now: QuickAction[]): QuickAction[] {
  const known = new Set(before.map((each) => each.label));
  const both = [...before, ...now.filter((each) => !known.has(each.label))];
  return both.length <= STEADY ? both : now;
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

/** The same with a key each: directions by arrows, the others by digits where there are enough for all. */
export function withKeys<Each extends QuickAction>(actions: Each[]): Each[] {
  const taken = new Set(actions.map((each) => each.key));
  const arrows = actions.map((each) => {
    const arrow = each.key ?? ARROWS[each.label.toLowerCase()];
    if (!arrow || (each.key === undefined && taken.has(arrow))) return each;
    taken.add(arrow);
    return { ...each, key: arrow };
  });
  const free = Array.from({ length: DIGITS }, (_, at) => String(at + 1)).filter((key) => !taken.has(key));
  const without = arrows.filter((each) => each.key === undefined);
  if (without.length > free.length) return arrows;
  return arrows.map((each) => (each.key === undefined ? { ...each, key: free.shift() ?? "" } : each));
}

/** Whether four of the buttons are the directions of a cross. */
export function isCross(actions: QuickAction[]): boolean {
  const keys = new Set(actions.map((each) => each.key));
  return CROSS.every((key) => keys.has(key));
}

const CROSS = ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"];

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
