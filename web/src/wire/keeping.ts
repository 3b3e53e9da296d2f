/** What survives a reload of a tab: its session and its history. Two tabs never share them. */
import { effect } from "@preact/signals";
import { Log } from "../history/log";
import { stored } from "../storage";
import { KeptEntries } from "./kept_entries";
import { KeptSession } from "./kept_session";

/** How long a reloaded page waits for its former self to let go. */
const CLAIM_MS = 2_000;
const TAB = "openenv.tab";

/** What one tab keeps of one server. */
export class Keeping {
  private constructor(
    readonly session: KeptSession,
    /** The history as it was; what is appended to it is kept. */
    readonly log: Log,
  ) {}

  /** Opens what was kept of a server. Never rejects. */
  static async open(address: string): Promise<Keeping> {
    const before = stored((storage) => storage.getItem(TAB));
    const own = before !== null && (await claimed(before));
    const tab = own ? before : newTab();
    const entries = await KeptEntries.open(`${tab} ${address}`);
    const log = new Log();
    for (const entry of await entries.load()) log.append(entry);
    keepUp(log, entries);
    return new Keeping(new KeptSession(address, before !== null && !own), log);
  }
}

/** A name for a tab that has none, or the name of the tab that it was duplicated from. */
function newTab(): string {
  const tab = Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("");
  stored((storage) => storage.setItem(TAB, tab));
  void claimed(tab);
  return tab;
}

const claims = new Map<string, Promise<boolean>>();

/** Makes a name this tab's alone for as long as it is open; `false` if another tab has it. */
function claimed(tab: string): Promise<boolean> {
  const claim = claims.get(tab) ?? locked(tab);
  claims.set(tab, claim);
  return claim;
}

function locked(tab: string): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return Promise.resolve(true); // a server on plain HTTP elsewhere
  return new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true);
      return new Promise(() => undefined);
    };
    const options = { signal: AbortSignal.timeout(CLAIM_MS) };
    locks.request(`${TAB}:${tab}`, options, hold).catch((error: unknown) => resolve(!isTimeout(error)));
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

/** Keeps what is appended to a history, and forgets what is cleared. */
function keepUp(log: Log, entries: KeptEntries): void {
  let { appended, era } = log;
  effect(() => {
    void log.version.value;
    if (log.era !== era) entries.clear();
    const fresh = Math.min(log.appended - appended, log.length);
    for (let at = log.length - fresh; at < log.length; at++) entries.append(log.at(at));
    ({ appended, era } = log);
  });
}
