import { useMemo } from "preact/hooks";
import type { Fault, JsonObject, Schema } from "../types";
import { Fields } from "./action_form";
import { Opening } from "./opening";
import { Problems } from "./problems";
import { Sending, useFilling } from "./sending";

interface Props {
  /** What the environment's reset takes; null where the server does not say. */
  schema: Schema | null;
  busy: boolean;
  faults: Fault[];
  onReset: (kwargs: JsonObject) => void;
}

/** What every environment may be asked for. */
const USUAL: Record<string, Schema> = {
  seed: {
    anyOf: [{ type: "integer" }, { type: "null" }],
    default: null,
    title: "Seed",
    description: "The same seed begins the same episode.",
  },
  episode_id: {
    anyOf: [{ type: "string" }, { type: "null" }],
    default: null,
    title: "Episode id",
    description: "A name of your own for the episode.",
  },
};

/** Begins an episode: at once, or with options. */
export function ResetForm({ schema, busy, faults, onReset }: Props) {
  const whole = useMemo(() => resetSchema(schema), [schema]);
  const filling = useFilling({ schema: whole, busy, faults, onSend: onReset });
  const found = filling.checked.faults;
  const count = Object.keys(filling.value).length;
  return (
    <Sending class="form-reset" filling={filling}>
      <button type="submit" class="button" aria-disabled={busy}>
        Reset
      </button>
      <Opening
        class="form-options"
        summary={count > 0 ? `Options (${count})` : "Options"}
        wanted={found.length > 0 && found}
      >
        <Fields schema={whole} filling={filling} />
      </Opening>
      <Problems faults={found} onAnyway={filling.insist} />
    </Sending>
  );
}

/** What reset takes, the usual first; anything else may be added, for the environment to judge. */
function resetSchema(schema: Schema | null): Schema {
  return {
    ...schema,
    type: "object",
    properties: { ...USUAL, ...schema?.properties },
    additionalProperties: schema?.additionalProperties ?? true,
  };
}
