import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { isObject } from "../json";
import type { Json, JsonObject, Result, Schema } from "../types";
import "./view.css";
import { Badges, metadataOf } from "./badges";
import { Code } from "./code";
import { CopyButton } from "./copy";
import { FailureView } from "./failure";
import { Field } from "./field";
import { Frame } from "./frame";
import { failureIn } from "./kind";
import { Places, PlacesContext, usePlace } from "./places";
import { RubricTree } from "./rubric";
import { runIn, Terminal } from "./terminal";
import { Tree } from "./tree";

/** What `ObservationView` shows, and how. */
interface Props {
  result: Result;
  /** The result before it, against which changes are marked. */
  previous?: Result | null | undefined;
  /** The observation's schema. */
  schema?: Schema | undefined;
  /** A key that was pressed inside the environment's own view. */
  onKey?: ((key: string) => void) | undefined;
}

const TOLD_ELSEWHERE = new Set(["reward", "done", "metadata"]);

/** What a reset or a step gave, each part of it as what it is. */
export function ObservationView(props: Props) {
  const places = useMemo(() => new Places(), []);
  return (
    <PlacesContext.Provider value={places}>
      <div class="view-observation">
        <Parts {...props} />
      </div>
    </PlacesContext.Provider>
  );
}

function Parts({ result, previous, schema, onKey }: Props) {
  const [raw, setRaw] = usePlace(":raw", 0);
  const { view } = result;
  return (
    <>
      <div class="view-bar">
        <Badges result={result} />
        <span class="view-tools">
          <button
            type="button"
            class="button button-small view-copy"
            aria-pressed={raw === 1}
            onClick={() => setRaw(1 - raw)}
          >
            Raw
          </button>
          <CopyButton text={() => rawText(result)} label="Copy" />
        </span>
      </div>
      {typeof view?.html === "string" && (
        <Frame html={view.html} title="the environment's view" onKey={onKey} />
      )}
      {view?.error && <p class="view-note">The environment's view failed: {view.error}</p>}
      {raw === 1 ? (
        <Raw result={result} />
      ) : (
        <Folded when={typeof view?.html === "string"}>
          <Fields observation={result.observation} previous={previous?.observation} schema={schema} />
        </Folded>
      )}
      {raw === 0 && <Metadata metadata={metadataOf(result)} />}
    </>
  );
}

/** What the environment draws itself need not be read twice: its fields are there for who wants them. */
function Folded({ when, children }: { when: boolean; children: ComponentChildren }) {
  const [open, setOpen] = usePlace("open:fields", 0);
  if (!when) return <>{children}</>;
  return (
    <details
      class="view-folded"
      open={open === 1}
      onToggle={(event) => setOpen(event.currentTarget.open ? 1 : 0)}
    >
      <summary>Fields</summary>
      {open === 1 && children}
    </details>
  );
}

function Raw({ result }: { result: Result }) {
  const text = useMemo(() => rawText(result), [result]);
  return <Code text={text} language="json" path=":raw" label="the observation as JSON" />;
}

function rawText({ view, ...told }: Result): string {
  return JSON.stringify(told, notANumber, 2);
}

/** JSON has no NaN; the wire, and so a copy, spells it out. */
function notANumber(_: string, value: Json): Json {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function Fields({
  observation,
  previous,
  schema,
}: {
  observation: JsonObject;
  previous: JsonObject | undefined;
  schema: Schema | undefined;
}) {
  const run = runIn(observation);
  const told = new Set(run?.fields);
  const names = Object.keys(observation).filter((name) => !TOLD_ELSEWHERE.has(name) && !told.has(name));
  if (names.length === 0 && !run) return <p class="view-muted">The observation has no fields.</p>;
  return (
    <div class="view-fields">
      {run && <Terminal run={run} previous={previous ? runIn(previous) : null} />}
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          observation={observation}
          previous={previous}
          schema={schema?.properties?.[name]}
        />
      ))}
    </div>
  );
}

function Metadata({ metadata }: { metadata: JsonObject }) {
  const { reward_error: failure, rubric, ...rest } = metadata;
  const [open, setOpen] = usePlace("open:metadata", 0);
  return (
    <>
      {failure !== undefined && (
        <div role="group" aria-label="why there is no reward">
          <FailureView
            failure={
              isObject(failure) ? failureIn(failure) : { title: "", message: String(failure), rest: {} }
            }
            path="metadata/reward_error"
          />
        </div>
      )}
      {isObject(rubric) && (
        <div role="group" aria-label="scores">
          <RubricTree name="rubric" node={rubric} path="metadata/rubric" />
        </div>
      )}
      {Object.keys(rest).length > 0 && (
        <details open={open === 1} onToggle={(event) => setOpen(event.currentTarget.open ? 1 : 0)}>
          <summary>
            metadata <span class="view-muted">{`{${Object.keys(rest).length}}`}</span>
          </summary>
          {open === 1 && <Tree value={rest} path="metadata" />}
        </details>
      )}
    </>
  );
}
