import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { openFile, type Opened } from "../history/files";
import { HistoryPane } from "../history/pane";
import { type Button, quickActions } from "../play/quick";
import { actByKey } from "../play/quick_bar";
import type { Desk } from "../store";
import type { Entry } from "../types";
import { ObservationView } from "../view/observation";
import { WatchPane } from "../watch/pane";
import { Readme, SchemaView } from "./about";
import { ActionsPane } from "./actions_pane";
import { Header } from "./header";
import { Notices } from "./notices";
import { ObservationPane } from "./observation_pane";
import { type Tab, Tabs } from "./tabs";
import { useTools } from "./use_tools";
import { Viewing } from "./viewing";

interface Props {
  page: URL;
  desk: Desk;
  /** Goes on with a token. */
  onToken: (token: string) => void;
}

/** An environment to play: its own page where it has one, the desk, the sessions of others, the README. */
export function Playing({ page, desk, onToken }: Props) {
  const { environment } = desk;
  const { custom, watch } = environment.config;
  const opened = useSignal<Opened | null>(null);
  const chosen = useSignal(custom?.primary ? "custom" : "play");
  if (opened.value) {
    return (
      <Viewing
        {...opened.value}
        onClose={() => {
          opened.value = null;
        }}
      />
    );
  }
  const own = custom && {
    id: "custom",
    name: custom.name,
    panel: () => <iframe class="shell-custom" src={`./${custom.path}`} title={custom.name} />,
  };
  const tabs: Tab[] = [
    {
      id: "play",
      name: "Play",
      panel: () => <DeskView page={page} desk={desk} onToken={onToken} onOpen={open} />,
    },
    { id: "readme", name: "README", panel: () => <Readme environment={environment} /> },
    { id: "schema", name: "Schema", panel: () => <SchemaView environment={environment} /> },
  ];
  if (watch) tabs.splice(1, 0, { id: "watch", name: "Watch", panel: () => watching(page, desk) });
  if (own) tabs.splice(custom.primary ? 0 : 1, 0, own);
  async function open(file: File) {
    opened.value = await openFile(file);
  }
  return (
    <>
      <Header environment={environment} status={desk.session.status} />
      <main class="shell-main">
        <Tabs
          label="Parts of this page"
          tabs={own && custom.only ? [own] : tabs}
          chosen={chosen.value}
          onChoose={(id) => {
            chosen.value = id;
          }}
        />
      </main>
    </>
  );
}

function watching(page: URL, desk: Desk) {
  return (
    <WatchPane
      page={page}
      environment={desk.environment}
      renderObservation={(result, previous) => <ObservationView result={result} previous={previous} />}
    />
  );
}

function DeskView({ page, desk, onToken, onOpen }: Props & { onOpen: (file: File) => Promise<void> }) {
  const tools = useTools(page, desk);
  const keys = useSignal(true);
  const { action: schema } = desk.environment.schemas;
  const before = useRef<Button[]>([]);
  const result = desk.result.value;
  before.current = useMemo(() => quickActions(schema, result, before.current), [schema, result]);
  const buttons = desk.gone.value
    ? before.current.map((each) => ({ ...each, offered: false }))
    : before.current;
  const busy = desk.busy.value;
  const listens = keys.value && !desk.selected.value; // who looks back does not play
  const again = (entry: Entry) =>
    void (entry.kind === "reset" ? desk.reset(entry.action) : desk.step(entry.action));
  return (
    <>
      <Notices desk={desk} />
      <div class={desk.selected.value ? "shell-desk shell-looking" : "shell-desk"}>
        <ActionsPane
          desk={desk}
          tools={tools.value}
          buttons={buttons}
          keys={keys.value}
          listens={listens}
          onKeys={(on) => {
            keys.value = on;
          }}
        />
        <div class="shell-right">
          <ObservationPane
            desk={desk}
            onToken={onToken}
            onKey={(key) => {
              if (listens && !busy) actByKey(buttons, key, (action) => void desk.step(action));
            }}
          />
        </div>
        <div class="shell-below">
          <HistoryPane
            log={desk.log}
            selected={desk.selected.value}
            onSelect={(entry) => {
              if (!desk.selected.value) window.scrollTo({ top: 0 });
              desk.selected.value = entry;
            }}
            onReplay={again}
            onClear={() => desk.clear()}
            onOpen={onOpen}
            environment={desk.environment}
          />
        </div>
      </div>
    </>
  );
}
