import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ActionForm } from "../form/action_form";
import { ResetForm } from "../form/reset_form";
import { ToolPalette } from "../form/tool_form";
import { Chat } from "../play/chat";
import { Draft } from "../play/draft";
import type { Button } from "../play/quick";
import { QuickBar } from "../play/quick_bar";
import { chatField } from "../play/spoken";
import type { Desk } from "../store";
import type { Entry, Fault, JsonObject, Schema, Tool } from "../types";
import { Snippet } from "./snippet";
import { StatePanel } from "./state_panel";
import { type Tab, Tabs } from "./tabs";

const NONE: Fault[] = [];
const CALL = "CallToolAction";

interface Props {
  desk: Desk;
  tools: Tool[];
  buttons: Button[];
  keys: boolean;
  /** Whether keys are for playing now. */
  listens: boolean;
  onKeys: (on: boolean) => void;
}

/** What a person can do: begin an episode, press a button, fill in a form, call a tool, say something. */
export function ActionsPane({ desk, tools, buttons, keys, listens, onKeys }: Props) {
  const { schemas, config } = desk.environment;
  const pending = useSignal<JsonObject | null>(null);
  const draft = useMemo(() => new Draft(desk.environment.address), [desk]);
  const busy = desk.busy.value;
  const newest = desk.newest.value;
  const faultsOf = (kind: Entry["kind"]) => (newest?.kind === kind ? desk.faults.value : NONE);
  const act = (action: JsonObject) => void desk.step(action);
  const field = chatField(schemas.action);
  const tabs: Tab[] = [];
  const hasTools = tools.length > 0 || (config.tools && config.version !== null);
  if (hasTools) tabs.push({ id: "tools", name: "Tools", panel: () => palette() });
  if (field !== undefined) tabs.push({ id: "chat", name: "Chat", panel: () => chat(field) });
  tabs.push({ id: "form", name: "Form", panel: () => form() });
  const chosen = useSignal(
    takesCallsAlone(schemas.action) ? "tools" : config.chat && field ? "chat" : "form",
  );

  const palette = () =>
    tools.length === 0 ? (
      <p class="shell-muted">The tools are listed once an episode has begun: press Reset.</p>
    ) : (
      <ToolPalette
        tools={tools}
        busy={busy}
        faults={faultsOf("step")}
        onCall={(tool, args) => act({ type: "call_tool", tool_name: tool.name, arguments: args })}
      />
    );
  const chat = (name: string) => <Chat field={name} log={desk.log} busy={busy} onSay={act} />;
  const form = () => (
    <ActionForm
      schema={schemas.action}
      busy={busy}
      faults={faultsOf("step")}
      onSubmit={act}
      initial={draft.read()}
      onChange={(action) => {
        pending.value = action;
        draft.write(action);
      }}
      recall={(offset) => sent(desk, offset)}
      submitLabel="Step"
    />
  );
  const ways =
    tabs.length > 1 ? (
      <Tabs
        label="Ways to act"
        tabs={tabs}
        chosen={chosen.value}
        onChoose={(id) => {
          chosen.value = id;
        }}
      />
    ) : (
      form()
    );
  const snippet = (
    <Snippet
      environment={desk.environment}
      action={buttons.length > 0 ? (sent(desk, 1) ?? buttons[0]?.action ?? {}) : (pending.value ?? {})}
    />
  );
  return (
    <div class="shell-left">
      <section
        class={buttons.length > 0 ? "shell-pane shell-following" : "shell-pane"}
        aria-labelledby="actions-title"
      >
        <h2 id="actions-title">Actions</h2>
        <ResetForm
          schema={config.reset}
          busy={busy}
          faults={faultsOf("reset")}
          onReset={(kwargs) => void desk.reset(kwargs).then(() => desk.newest.value?.result && toButtons())}
        />
        {buttons.length > 0 ? (
          <QuickBar actions={buttons} busy={busy} keys={keys} listens={listens} onKeys={onKeys} onAct={act} />
        ) : (
          <>
            {ways}
            {snippet}
          </>
        )}
      </section>
      {buttons.length > 0 && (
        <section class="shell-pane shell-more" aria-label="More actions">
          <details class="shell-details">
            <summary>Any other action</summary>
            {ways}
          </details>
          {snippet}
        </section>
      )}
      <StatePanel desk={desk} />
    </div>
  );
}

/** After a reset the keys are for playing: Space must not press Reset again. */
function toButtons(): void {
  if (document.activeElement?.closest(".form-reset")) document.getElementById("quick")?.focus();
}

/** Whether calls of tools are the only actions. */
function takesCallsAlone(action: Schema): boolean {
  return action.title === CALL || CALL in (action.$defs ?? {});
}

/** The action of the step that is `offset` steps back, 1 being the newest. */
function sent(desk: Desk, offset: number): JsonObject | undefined {
  let left = offset;
  for (let at = desk.log.length - 1; at >= 0; at--) {
    const entry = desk.log.at(at);
    if (entry.kind === "step" && --left === 0) return entry.action;
  }
  return undefined;
}
