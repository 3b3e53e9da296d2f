import { Component, createContext, type ComponentChildren, type ComponentType } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";
import type { Json, Schema } from "../types";

/** What is the same for all fields of a form, for as long as it is shown. */
export interface Scope {
  root: Schema;
  idPrefix: string;
  /** Puts a value at a place; undefined leaves it out. */
  edit: (pointer: string, value: Json | undefined) => void;
  /** Texts that are no value (yet), by their place: what is wrong with them. */
  drafts: Drafts;
}

/** What was typed that cannot be sent, by its place. */
export type Drafts = Map<string, string>;

const ScopeContext = createContext<Scope | null>(null);
const FaultsContext = createContext<ReadonlyMap<string, string>>(new Map());

export const ScopeProvider = ScopeContext.Provider;
export const FaultsProvider = FaultsContext.Provider;

export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (!scope) throw new Error("a field must be within a SchemaForm");
  return scope;
}

/** What is wrong at a place. */
export function useFault(pointer: string): string | undefined {
  return useContext(FaultsContext).get(pointer);
}

/** Tells the form that what was typed at a place is no value, and why; null while it is one. */
export function useDraft(pointer: string, problem: string | null): void {
  const { drafts } = useScope();
  useLayoutEffect(() => {
    if (problem === null) return;
    drafts.set(pointer, problem);
    return () => void drafts.delete(pointer);
  }, [pointer, problem, drafts]);
}

/** The id of the control at a place. */
export function idOf(prefix: string, pointer: string): string {
  return prefix + pointer.replace(/[^\w/-]/g, (char) => `.${char.charCodeAt(0).toString(36)}`);
}

/** A component that renders again only for other props: typing in one field leaves 500 others be. */
export function memo<P extends object>(Inner: (props: P) => ComponentChildren): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [old, now] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return Object.keys({ ...old, ...now }).some((key) => !Object.is(old[key], now[key]));
    }
    override render() {
      return <Inner {...(this.props as P)} />;
    }
  };
}
