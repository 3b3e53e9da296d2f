import type { Json, JsonObject } from "../types";
import { Badge } from "./badges";
import { Changed } from "./changed";
import { LongText } from "./text";
import { printed } from "./texts";

/** What a program printed, and how it ended. */
export interface Run {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  /** The fields that this tells, which need not be told again. */
  fields: string[];
}

/** The run of a program that an observation tells of, if it does. */
export function runIn(observation: JsonObject): Run | null {
  const { stdout, stderr } = observation;
  if (typeof stdout !== "string" && typeof stderr !== "string") return null;
  const code = ["exit_code", "returncode", "return_code"].find(
    (name) => typeof observation[name] === "number",
  );
  return {
    stdout: text(stdout),
    stderr: text(stderr),
    exitCode: code === undefined ? null : Number(observation[code]),
    fields: ["stdout", "stderr", ...(code === undefined ? [] : [code])].filter((name) =>
      isTold(observation[name]),
    ),
  };
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function isTold(value: Json | undefined): boolean {
  return value === null || typeof value === "string" || typeof value === "number";
}

/** A run as a terminal shows it: the output, the errors, the exit code. */
export function Terminal({ run, previous }: { run: Run; previous: Run | null }) {
  const { stdout, stderr, exitCode } = run;
  const changed =
    previous !== null &&
    (previous.stdout !== stdout || previous.stderr !== stderr || previous.exitCode !== exitCode);
  return (
    <div role="group" class="view-field view-wide" aria-label="output of the program">
      <div class="view-name">
        output{" "}
        {exitCode !== null && <Badge text={`exit code ${exitCode}`} tone={exitCode === 0 ? "ok" : "bad"} />}
      </div>
      <div class="view-terminal">
        {stdout && <LongText text={printed(stdout)} mono path="terminal/stdout" label="stdout" />}
        {stderr && <p class="view-stream">stderr</p>}
        {stderr && <LongText text={printed(stderr)} mono bad path="terminal/stderr" label="stderr" />}
        {!stdout && !stderr && <p class="view-muted">nothing was printed</p>}
      </div>
      {changed && <Changed was="" />}
    </div>
  );
}
