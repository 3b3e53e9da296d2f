import { Validator, type OutputUnit, type Schema as Draft } from "@cfworker/json-schema";
import { child, isObject } from "../json";
import type { Fault, Json, Schema } from "../types";
import { compiled, NUMBER } from "./compile";
import { fieldOf, type FieldOf } from "./field";
import { optionOf } from "./options";
import { at, pointerOf, stepsOf, type Loc } from "./path";
import { asSchema, target } from "./resolve";
import { faultWords, shown } from "./words";

type Checker = (value: Json) => OutputUnit[];

/** What the checker says, at most, of one value: more than this nobody reads. */
const MOST_UNITS = 1000;
/** Schemas whose parts name each other may take for ever to check: parts looked at before the server is left to it. */
const MOST_VISITS = 300_000;
const checkers = new WeakMap<Schema, { checker: Checker; schema: Schema }>();

/**
 * What is wrong with a value, in words a person understands; nothing if it is right.
 *
 * Of a union's options only the one that the value looks most like is spoken of. What the checker cannot read is left
 * to the environment, which checks all of it again.
 */
export function validate(schema: Schema, value: Json): Fault[] {
  const { checker, schema: read } = checkerOf(schema);
  const units = withoutOtherOptions(schema, read, value, checker(value));
  const faults = units.flatMap((unit) => faultsOf(read, value, unit));
  const places = new Set<string>();
  return faults.filter((fault) => !places.has(pointerOf(fault.loc)) && places.add(pointerOf(fault.loc)));
}

function checkerOf(schema: Schema): { checker: Checker; schema: Schema } {
  const known = checkers.get(schema);
  if (known) return known;
  const made = madeFor(schema);
  checkers.set(schema, made);
  return made;
}

function madeFor(schema: Schema): { checker: Checker; schema: Schema } {
  let visits = 0;
  const visited = () => {
    visits += 1;
    if (visits > MOST_VISITS) throw new RangeError("this takes too long to be checked here");
  };
  try {
    const read = compiled(schema, visited);
    const validator = new Validator(read as Draft, "2020-12", false);
    const checker = (value: Json): OutputUnit[] => {
      visits = 0;
      return validator.validate(value).errors.slice(0, MOST_UNITS);
    };
    return { checker: orNothing(checker), schema: read };
  } catch {
    // It is nested deeper than can be followed.
    return { checker: () => [], schema: {} };
  }
}

/** A schema that never ends, or that says what it must not, finds nothing. */
function orNothing(checker: Checker): Checker {
  return (value) => {
    try {
      return checker(value);
    } catch {
      return [];
    }
  };
}

/** Leaves out what is said of options that a value is not of. */
function withoutOtherOptions(root: Schema, read: Schema, value: Json, units: OutputUnit[]): OutputUnit[] {
  const left = new Set(units);
  for (const unit of units) {
    if (unit.keyword !== "anyOf" || !left.has(unit)) continue;
    const chosen = `${unit.keywordLocation}/${chosenOption(root, read, value, unit)}`;
    for (const other of left) {
      const ofUnion = isWithin(other.keywordLocation, unit.keywordLocation) && other !== unit;
      if (!ofUnion || !isWithin(other.instanceLocation, unit.instanceLocation)) continue;
      if (!isWithin(other.keywordLocation, chosen)) left.delete(other);
    }
  }
  return [...left];
}

function isWithin(pointer: string, other: string): boolean {
  return pointer === other || pointer.startsWith(`${other}/`);
}

function chosenOption(root: Schema, read: Schema, value: Json, unit: OutputUnit): number {
  const union = schemaAt(read, unit.keywordLocation.replace(/\/anyOf$/, ""));
  const options = (union.anyOf as Schema[]).map((schema) => ({ label: "", schema }));
  if (options.at(-1)?.schema.$comment === NUMBER) return 0;
  const field = fieldOf(read, { anyOf: options.map((option) => option.schema) });
  const declared = field.kind === "union" ? field.discriminator : undefined;
  const whole = { ...fieldOf(root, {}), kind: "union", options, discriminator: declared } as FieldOf<"union">;
  return optionOf(read, whole, at(value, stepsOf(decoded(unit.instanceLocation))));
}

function decoded(pointer: string): string {
  return decodeURIComponent(pointer.slice(1));
}

/** The schema that a keyword's location goes through, over its `$ref`s. */
function schemaAt(root: Schema, location: string): Record<string, unknown> {
  let found: unknown = root;
  for (const step of stepsOf(decoded(location))) {
    const inner = isObject(found)
      ? child(found, step)
      : Array.isArray(found)
        ? found[Number(step)]
        : undefined;
    found = step === "$ref" && typeof inner === "string" ? target(root, inner) : inner;
  }
  return asSchema(found);
}

function faultsOf(read: Schema, value: Json, unit: OutputUnit): Fault[] {
  const loc = locOf(value, stepsOf(decoded(unit.instanceLocation)));
  const schema = schemaAt(read, unit.keywordLocation.replace(/\/[^/]*$/, ""));
  const there = at(value, loc) ?? null;
  if (unit.keyword === "required") return missing(loc, there, schema.required as string[], unit.error);
  if (unit.keyword === "not") return [{ loc, msg: notWords(unit.keywordLocation, there) }];
  const msg = faultWords(unit.keyword, schema, there);
  return msg === undefined ? [] : [{ loc, msg }];
}

/** There is one unit for each missing property, and it names it in its text. */
function missing(loc: Loc, value: Json, required: string[], error: string): Fault[] {
  return required
    .filter((name) => error.includes(`"${name}"`) && isObject(value) && !Object.hasOwn(value, name))
    .map((name) => ({ loc: [...loc, name], msg: "is needed" }));
}

function notWords(location: string, value: Json): string {
  if (/\/additionalProperties\/not$/.test(location)) return "is not a field of this";
  return `must be something else than ${shown(value)}`;
}

/** Steps of a pointer as a loc: numbers where they count a list's items. */
function locOf(value: Json, steps: string[]): (string | number)[] {
  return steps.map((step, index) => (Array.isArray(at(value, steps.slice(0, index))) ? Number(step) : step));
}
