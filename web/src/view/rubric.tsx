import { figure } from "../figures";
import { isObject } from "../json";
import type { Json, JsonObject } from "../types";
import { Badge, BADGE_FIGURES, type BadgeText } from "./badges";
import { FailureView } from "./failure";
import { failureIn } from "./kind";
import { Tree } from "./tree";

const DEEPEST = 20;

/** A rubric's tree of scores: each with what it was made of. */
export function RubricTree({
  name,
  node,
  path,
  depth = 0,
}: {
  name: string;
  node: JsonObject;
  path: string;
  depth?: number;
}) {
  const { rubric, score, error, children, ...rest } = node;
  const parts = isObject(children) && depth < DEEPEST ? Object.entries(children) : [];
  return (
    <div class="view-rubric">
      <span class="view-key">{name}</span>{" "}
      {typeof rubric === "string" && rubric !== name && <span class="view-muted">{rubric}</span>}{" "}
      <Badge {...scoreBadge(score)} />
      {isObject(error) && <FailureView failure={failureIn(error)} path={`${path}/error`} />}
      {Object.keys(rest).length > 0 && <Tree value={rest} path={path} />}
      {parts.map(
        ([part, inner]) =>
          isObject(inner) && (
            <RubricTree key={part} name={part} node={inner} path={`${path}/${part}`} depth={depth + 1} />
          ),
      )}
    </div>
  );
}

function scoreBadge(score: Json | undefined): BadgeText {
  if (typeof score !== "number") return { text: "no score", tone: "bad" };
  return { text: `score ${figure(score, BADGE_FIGURES)}`, tone: score > 0 ? "ok" : "plain" };
}
