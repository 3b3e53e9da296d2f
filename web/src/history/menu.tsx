import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Around the panel, in pixels. */
const GAP = 8;

/** A button that opens a small panel; Escape, or a click elsewhere, closes it. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const details = useRef<HTMLDetailsElement>(null);
  const [isAbove, setAbove] = useState(false);
  useEffect(() => {
    const close = (event: Event) => {
      const menu = details.current;
      if (menu?.open && !menu.contains(event.target as Node)) menu.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("focusin", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("focusin", close);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !details.current?.open) return;
    event.stopPropagation();
    details.current.open = false;
    details.current.querySelector("summary")?.focus();
  };
  return (
    <details
      ref={details}
      class="history-menu"
      onKeyDown={onKeyDown}
      onToggle={() => setAbove(fitsAbove(details.current))}
    >
      <summary class="button">{label}</summary>
      <div class={isAbove ? "history-panel history-panel-above" : "history-panel"}>{children}</div>
    </details>
  );
}

/** Whether the panel of a menu has its room above the button alone. */
function fitsAbove(menu: HTMLDetailsElement | null): boolean {
  const panel = menu?.open ? menu.querySelector(".history-panel") : null;
  if (!menu || !panel) return false;
  const { top, bottom } = menu.getBoundingClientRect();
  const needed = panel.clientHeight + GAP;
  return bottom + needed > window.innerHeight && top >= needed;
}
