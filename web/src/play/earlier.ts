import type { Log } from "../history/log";
import type { Entry, Result } from "../types";

/** What came before an entry in its episode: what its observation is compared with. */
export function earlier(log: Log, entry: Entry): Result | null {
  for (let at = log.length - 1; at >= 0; at--) {
    const found = log.at(at);
    if (found.index < entry.index && found.result)
      return found.episode === entry.episode ? found.result : null;
  }
  return null;
}
