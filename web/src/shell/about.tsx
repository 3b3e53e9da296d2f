import type { Environment, Json } from "../types";
import { Markdown } from "../view/markdown";
import { Tree } from "../view/tree";

/** The environment's README, without the front matter that is for machines. */
export function Readme({ environment }: { environment: Environment }) {
  const { metadata } = environment;
  const text = withoutFrontMatter(metadata.readme_content ?? "");
  return (
    <section class="shell-pane shell-reading" aria-label="README">
      {text === "" ? (
        <div class="shell-empty">
          <p>
            <strong>{metadata.name} has no README.</strong>
          </p>
          <p>One beside its openenv.yaml is shown here.</p>
        </div>
      ) : (
        <Markdown text={text} />
      )}
      <dl class="shell-facts">
        {facts(environment).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The JSON schemas of what is sent and what comes back. */
export function SchemaView({ environment }: { environment: Environment }) {
  return (
    <section class="shell-pane" aria-label="Schema">
      {Object.entries(environment.schemas).map(([name, schema]) => (
        <details key={name} class="shell-details" open={name === "action"}>
          <summary>{name}</summary>
          <Tree value={schema as Json} />
        </details>
      ))}
    </section>
  );
}

function facts({ metadata, config, address }: Environment): [string, string][] {
  const all: [string, string | null | undefined][] = [
    ["version", metadata.version],
    ["author", metadata.author],
    ["server", config.target ?? address],
    ["OpenEnv", config.version],
  ];
  return all.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---[ \t]*(\r?\n|$)/, "").trim();
}
