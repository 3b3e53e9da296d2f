import type { Signal } from "@preact/signals";
import type { Environment, Phase, Status } from "../types";
import { theme, turnTheme } from "./theme";

const NAMES: Record<Phase, string> = {
  idle: "not connected",
  connecting: "connecting…",
  queued: "waiting…",
  open: "connected",
  busy: "running…",
  reconnecting: "reconnecting…",
  lost: "episode lost",
  copied: "not connected",
  full: "server full",
  refused: "refused",
};

interface Props {
  environment: Environment | null;
  status: Signal<Status> | null;
}

/** Whose page this is, and how it stands with the server. */
export function Header({ environment, status }: Props) {
  const now = status?.value;
  return (
    <header class="shell-header">
      <img src={icon()} alt="" width="28" height="28" />
      <div class="shell-title">
        <h1 title={environment?.metadata.name}>{environment?.metadata.name ?? "OpenEnv"}</h1>
        <p>{environment?.metadata.description ?? ""}</p>
      </div>
      {now && (
        // Not read out: it changes twice at each step, and what stands in the way is told by a notice.
        <p class={`shell-status shell-${now.phase}`} role="status" aria-live="off" title={now.message}>
          {NAMES[now.phase]}
        </p>
      )}
      <button
        type="button"
        class="button shell-theme"
        onClick={turnTheme}
        aria-label={theme.value === "dark" ? "Use the light theme" : "Use the dark theme"}
      >
        <span aria-hidden="true">{theme.value === "dark" ? "☀" : "☾"}</span>
      </button>
    </header>
  );
}

/** The page's own icon; an exported page holds it in itself. */
function icon(): string {
  return document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? "";
}
