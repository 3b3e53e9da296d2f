import { useId, useRef, useState } from "preact/hooks";
import type { Fault, JsonObject, Schema, Tool } from "../types";
import { ActionForm } from "./action_form";

interface Props {
  tools: Tool[];
  busy: boolean;
  faults: Fault[];
  onCall: (tool: Tool, args: JsonObject) => void;
}

const SEARCHED = 6;
const MOST_CALLS = 100;
const NO_FAULTS: Fault[] = [];

/** The environment's tools, and the form of the chosen one. */
export function ToolPalette({ tools, busy, faults, onCall }: Props) {
  const [name, setName] = useState(tools[0]?.name);
  const typed = useRef(new Map<string, JsonObject>()).current;
  const calls = useRef<Call[]>([]);
  const tool = tools.find((each) => each.name === name) ?? tools[0];
  if (!tool) return <p class="form-hint">The environment has no tools.</p>;
  const call = (args: JsonObject) => {
    calls.current = [{ tool: tool.name, args }, ...calls.current].slice(0, MOST_CALLS);
    onCall(tool, args);
  };
  const earlier = (offset: number) =>
    calls.current.filter((made) => made.tool === tool.name)[offset - 1]?.args;
  return (
    <div class="form-palette">
      <ToolList tools={tools} chosen={tool} onChoose={setName} />
      <h3 class="form-tool-name">{tool.name}</h3>
      <ActionForm
        key={tool.name}
        schema={argumentsOf(tool)}
        initial={typed.get(tool.name)}
        busy={busy}
        faults={calls.current[0]?.tool === tool.name ? faults : NO_FAULTS}
        onSubmit={call}
        onChange={(value) => void typed.set(tool.name, value)}
        recall={earlier}
        submitLabel={`Call ${tool.name}`}
      />
    </div>
  );
}

interface Call {
  tool: string;
  args: JsonObject;
}

const described = new WeakMap<Tool, Schema>();

/** A tool's schema; what the tool says of its arguments are their hints. */
function argumentsOf(tool: Tool): Schema {
  const known = described.get(tool) ?? { ...tool.schema, type: "object", description: tool.description };
  described.set(tool, known);
  return known;
}

interface ListProps {
  tools: Tool[];
  chosen: Tool;
  onChoose: (name: string) => void;
}

function ToolList({ tools, chosen, onChoose }: ListProps) {
  const id = useId();
  const [search, setSearch] = useState("");
  const found = tools.filter((tool) => matches(tool, search));
  return (
    <>
      {tools.length >= SEARCHED && (
        <div class="form-field">
          <div class="form-head">
            <label for={id}>Search the tools</label>
            <span class="form-limits" role="status">
              {found.length} of {tools.length}
            </span>
          </div>
          <input
            id={id}
            class="input"
            type="search"
            autocomplete="off"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </div>
      )}
      <ul class="form-toollist" aria-label="Tools">
        {found.map((tool) => (
          <li key={tool.name}>
            <button
              type="button"
              class="form-tool"
              aria-pressed={tool === chosen}
              onClick={() => onChoose(tool.name)}
            >
              <span class="form-tool-name">{tool.name}</span>
              <span class="form-hint">{firstLine(tool.description)}</span>
            </button>
          </li>
        ))}
        {found.length === 0 && <li class="form-hint">No tool is called or described like that.</li>}
      </ul>
    </>
  );
}

function matches(tool: Tool, search: string): boolean {
  const text = `${tool.name} ${tool.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
