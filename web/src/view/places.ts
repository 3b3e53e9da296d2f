import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

const MOST = 2000;

/** What a reader opened, unfolded and scrolled to, by path: it stays so from step to step. */
export class Places {
  private readonly kept = new Map<string, number>();

  get(path: string): number | undefined {
    return this.kept.get(path);
  }

  /** Keeps a place; the one that was not set for longest goes when there are too many. */
  set(path: string, place: number): void {
    this.kept.delete(path);
    this.kept.set(path, place);
    const oldest = this.kept.keys().next();
    if (this.kept.size > MOST && !oldest.done) this.kept.delete(oldest.value);
  }
}

/** Where the parts of a view find their places. */
export const PlacesContext = createContext(new Places());

/** A number that is kept by path. */
export function usePlace(path: string, initial: number): [number, (place: number) => void] {
  const places = useContext(PlacesContext);
  const [place, setPlace] = useState(() => places.get(path) ?? initial);
  const keep = (next: number) => {
    places.set(path, next);
    setPlace(next);
  };
  return [place, keep];
}

/** Keeps where an element is scrolled to, also while it is gone. */
export function useScroll<T extends HTMLElement>(path: string) {
  const places = useContext(PlacesContext);
  const element = useRef<T>(null);
  useEffect(() => {
    if (element.current) element.current.scrollTop = places.get(path) ?? 0;
  }, [path, places]);
  const onScroll = () => places.set(path, element.current?.scrollTop ?? 0);
  return { ref: element, onScroll };
}
