import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { thousands } from "../figures";
import { cleaned } from "../frame/clean";
import { heightOf } from "../frame/height";
import { type Show, type Theme, bounded, toldIn } from "../frame/messages";

const VARIABLES = [
  "--bg",
  "--panel",
  "--raised",
  "--text",
  "--muted",
  "--accent",
  "--on-accent",
  "--ok",
  "--warn",
  "--bad",
  "--border",
  "--focus",
  "--code-bg",
  "--mono",
  "--radius",
  "--gap",
];
const FIRST_HEIGHT = 120;
const LONGEST = 2_000_000;
const FILED_STYLE =
  "body { margin: 0; padding: 8px; color: var(--text); font: 15px/1.45 system-ui, sans-serif }";
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

interface FrameProps {
  html: string;
  title: string;
  /** A key that was pressed in it, by the names of `KeyboardEvent.key`. */
  onKey?: ((key: string) => void) | undefined;
}

/** An environment's HTML in a sandbox: it can look like anything, and do nothing. */
export function Frame(props: FrameProps) {
  const size = props.html.length;
  if (size > LONGEST)
    return (
      <p class="view-note">
        The environment's view is too large to show: {thousands(size)} characters of HTML.
      </p>
    );
  return document.documentElement.dataset.viewer === undefined ? (
    <LiveFrame {...props} />
  ) : (
    <FiledFrame {...props} />
  );
}

function LiveFrame({ html, title, onKey }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(FIRST_HEIGHT);
  const [ready, setReady] = useState(0);
  const theme = useTheme();
  const keys = onKey !== undefined;
  const heard = useRef(onKey);
  heard.current = onKey;
  useLayoutEffect(() => {
    const listen = (event: MessageEvent<unknown>) => {
      const told = event.source === frame.current?.contentWindow ? toldIn(event.data) : null;
      if (told?.type === "ready") setReady((count) => count + 1);
      if (told?.type === "height") setHeight(told.height);
      if (told?.type === "key") heard.current?.(told.key);
    };
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);
  useLayoutEffect(() => {
    const show: Show = { type: "show", html, theme, keys };
    if (ready > 0) frame.current?.contentWindow?.postMessage(show, "*");
  }, [html, theme, keys, ready]);
  return (
    <div class="view-frame">
      <iframe
        ref={frame}
        sandbox="allow-scripts"
        src="./frame.html"
        title={title}
        style={{ height: `${height}px` }}
      />
    </div>
  );
}

/**
 * The same in an exported file, which has no server to ask for the frame's script. Nothing runs in it, so the page may
 * look inside to measure it.
 */
function FiledFrame({ html, title }: FrameProps) {
  const [height, setHeight] = useState(FIRST_HEIGHT);
  const theme = useTheme();
  const source = useMemo(() => documentOf(html, theme), [html, theme]);
  const measure = ({ currentTarget }: JSX.TargetedEvent<HTMLIFrameElement>) => {
    const body = currentTarget.contentDocument?.body;
    if (body) setHeight(bounded(heightOf(body)));
  };
  return (
    <div class="view-frame">
      <iframe
        sandbox="allow-same-origin"
        srcdoc={source}
        title={title}
        style={{ height: `${height}px` }}
        onLoad={measure}
      />
    </div>
  );
}

function documentOf(html: string, theme: Theme): string {
  const page = cleaned(html);
  const policy = page.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = POLICY;
  const style = page.createElement("style");
  const variables = Object.entries(theme.variables).map(([name, value]) => `${name}:${value}`);
  style.textContent = `:root { color-scheme: ${theme.scheme}; ${variables.join("; ")} } ${FILED_STYLE}`;
  page.documentElement.dataset.theme = theme.scheme;
  page.head.prepend(policy, style);
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

/** The page's theme, also when it changes. */
function useTheme(): Theme {
  const [theme, setTheme] = useState(themeNow);
  useEffect(() => {
    const watch = new MutationObserver(() => setTheme(themeNow()));
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => watch.disconnect();
  }, []);
  return theme;
}

function themeNow(): Theme {
  const style = getComputedStyle(document.documentElement);
  const variables = Object.fromEntries(VARIABLES.map((name) => [name, style.getPropertyValue(name).trim()]));
  return { scheme: document.documentElement.dataset.theme === "dark" ? "dark" : "light", variables };
}
