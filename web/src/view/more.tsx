import { thousands } from "../figures";
import { usePlace } from "./places";

const STEPS = 25;

/** How much of something long is shown, and how to show more of it; never all at once. */
export interface Portion {
  shown: number;
  total: number;
  more: () => void;
}

/** The first `first` of `total`, then four times as many, but at most `first * 25` more at once. */
export function usePortion(path: string, first: number, total: number): Portion {
  const [limit, setLimit] = usePlace(`shown:${path}`, first);
  return {
    shown: Math.min(limit, total),
    total,
    more: () => setLimit(Math.min(limit * 4, limit + first * STEPS)),
  };
}

/** A button that shows more, where there is more. */
export function More({ portion, unit }: { portion: Portion; unit: string }) {
  const { shown, total, more } = portion;
  if (shown >= total) return null;
  return (
    <button type="button" class="button button-small" onClick={more}>
      Show more{" "}
      <span class="view-muted">
        ({thousands(shown)} of {thousands(total)} {unit})
      </span>
    </button>
  );
}
