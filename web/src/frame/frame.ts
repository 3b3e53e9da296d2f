import { cleaned } from "./clean";
import { Heights, heightOf } from "./height";
import type { Show, Told } from "./messages";

const SCROLLING = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", " "]);

let heights: Heights | null = null;
let keysWanted = false;

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  if (event.source === window.parent && window.parent !== window && isShow(event.data)) show(event.data);
});
window.addEventListener("keydown", forwardKey);
for (const kind of ["click", "auxclick", "submit", "dragstart"]) {
  window.addEventListener(kind, (event) => leads(event) && event.preventDefault(), true);
}
new ResizeObserver(tellHeight).observe(document.body);
window.addEventListener("resize", tellHeight);
tell({ type: "ready" });

function isShow(message: unknown): message is Show {
  return typeof message === "object" && message !== null && "type" in message && message.type === "show";
}

function show({ html, theme, keys }: Show): void {
  const root = document.documentElement;
  root.dataset.theme = theme.scheme;
  root.style.colorScheme = theme.scheme;
  for (const [name, value] of Object.entries(theme.variables)) root.style.setProperty(name, value);
  keysWanted = keys;
  heights = new Heights();
  place(cleaned(html).body);
  tellHeight();
}

/** Puts a body's content and attributes in place of ours. */
function place(body: HTMLElement): void {
  for (const { name } of [...document.body.attributes]) document.body.removeAttribute(name);
  for (const { name, value } of [...body.attributes]) document.body.setAttribute(name, value);
  const content = document.createRange();
  content.selectNodeContents(body);
  document.body.replaceChildren(content.extractContents());
}

function leads(event: Event): boolean {
  return (
    event.type !== "click" ||
    (event.target instanceof Element && event.target.closest("a, area, button, input") !== null)
  );
}

function tellHeight(): void {
  if (!heights) return;
  const height = heights.next(window.innerWidth, heightOf(document.body));
  if (height !== null) tell({ type: "height", height });
}

function forwardKey(event: KeyboardEvent): void {
  if (!keysWanted || event.ctrlKey || event.altKey || event.metaKey) return;
  if (
    event.target instanceof Element &&
    event.target.closest("input, textarea, select, summary, [contenteditable]")
  )
    return;
  if (SCROLLING.has(event.key)) event.preventDefault();
  tell({ type: "key", key: event.key });
}

/** The page's origin is not ours, and nothing of this is secret. */
function tell(told: Told): void {
  window.parent.postMessage(told, "*");
}
