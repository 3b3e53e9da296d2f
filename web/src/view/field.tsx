import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import { child, same } from "../json";
import type { Json, JsonObject, Schema } from "../types";
import { Content, Files, Tools } from "./blocks";
import { Canvas, PictureView } from "./canvas";
import { Changed } from "./changed";
import { Code } from "./code";
import { FailureView } from "./failure";
import { type Kind, kindOf } from "./kind";
import { Markdown } from "./markdown";
import { Messages } from "./messages";
import { Chips, Grid, Table } from "./table";
import { LongText, ShortText } from "./text";
import { Tree } from "./tree";

const NARROW = new Set<Kind["kind"]>(["nothing", "scalar", "chips"]);

/** A field of an observation: its name, whether it changed, and its value as what it is. */
export function Field({
  name,
  observation,
  previous,
  schema,
}: {
  name: string;
  observation: JsonObject;
  previous: JsonObject | undefined;
  schema: Schema | undefined;
}) {
  const value = observation[name] ?? null;
  const was = child(previous, name);
  const kind = useMemo(() => kindOf(name, value, observation, schema), [name, value, observation, schema]);
  const changed = useMemo(() => previous !== undefined && !same(was, value), [previous, was, value]);
  return (
    <div role="group" class={NARROW.has(kind.kind) ? "view-field" : "view-field view-wide"} aria-label={name}>
      <div class="view-name" title={schema?.description}>
        <Name name={name} />
      </div>
      <div class="view-value">
        <ByKind kind={kind} name={name} was={was} />
      </div>
      {changed && <Changed was={was} />}
    </div>
  );
}

/** A name that may be broken where its words end. */
function Name({ name }: { name: string }) {
  const words = name.split(/(?<=_)/);
  return (
    <span>
      {words.map((word, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {word}
        </Fragment>
      ))}
    </span>
  );
}

function ByKind({ kind, name, was }: { kind: Kind; name: string; was: Json | undefined }) {
  switch (kind.kind) {
    case "nothing":
      return <span class="view-muted">{kind.label}</span>;
    case "scalar":
      return <ShortText text={kind.text} path={name} />;
    case "text":
      return <LongText text={kind.text} mono={kind.mono} path={name} label={name} />;
    case "code":
      return <Code text={kind.text} language={kind.language} path={name} label={name} />;
    case "markdown":
      return <Markdown text={kind.text} />;
    case "picture":
      return <PictureView picture={kind.picture} label={name} />;
    case "pixels":
      return <Canvas pixels={kind.pixels} label={name} />;
    default:
      return <Composed kind={kind} name={name} was={was} />;
  }
}

type Plain = "nothing" | "scalar" | "text" | "code" | "markdown" | "picture" | "pixels";

function Composed({
  kind,
  name,
  was,
}: {
  kind: Exclude<Kind, { kind: Plain }>;
  name: string;
  was: Json | undefined;
}) {
  switch (kind.kind) {
    case "pictures":
      return (
        <>
          {kind.pictures.map((picture, index) => (
            <PictureView key={index} picture={picture} label={`${name} ${index}`} />
          ))}
        </>
      );
    case "table":
      return <Table columns={kind.columns} rows={kind.rows} path={name} label={name} />;
    case "grid":
      return <Grid rows={kind.rows} previous={was} label={name} />;
    case "chips":
      return <Chips items={kind.items} path={name} />;
    case "messages":
      return <Messages messages={kind.messages} path={name} />;
    case "tools":
      return <Tools tools={kind.tools} path={name} />;
    case "files":
      return <Files files={kind.files} />;
    case "content":
      return <Content content={kind.content} path={name} />;
    case "error":
      return <FailureView failure={kind.error} path={name} />;
    case "tree":
      return <Tree value={kind.value} previous={was} path={name} />;
  }
}
