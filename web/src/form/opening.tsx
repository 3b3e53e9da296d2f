import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  class: string;
  summary: ComponentChildren;
  /** Opens it, each time this is another value than nothing; only a person closes it. */
  wanted: unknown;
  children: ComponentChildren;
}

/** Something that is shown when it is asked for. */
export function Opening({ class: name, summary, wanted, children }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (wanted && details.current) details.current.open = true;
  }, [wanted]);
  return (
    <details ref={details} class={name}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
