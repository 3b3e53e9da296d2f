import { type Signal, batch, signal } from "@preact/signals";
import { stored } from "../storage";
import { bearer } from "../wire/address";
import { pauseMs } from "../wire/patience";
import { type Happened, type Listed, Watched } from "./watched";

/** Where watching stands; `message` says it to people. */
interface Standing {
  phase: "asking" | "connecting" | "live" | "lost";
  message: string;
}

type Told =
  | { type: "sessions"; sessions: Listed[] }
  | ({ type: "event" } & Happened)
  | { type: "skipped"; id: string; count: number }
  | { type: "error"; error: { message: string } };

/** What the feed needs of a browser. */
export interface Browser {
  socket: (address: URL, subprotocols: string[]) => WebSocket;
  /** Whether the server answers at all, as a refused socket doesn't say why. */
  answers: (page: URL) => Promise<boolean>;
  /** What is kept under a name, for this tab. */
  read: (name: string) => string | null;
  keep: (name: string, value: string) => void;
  forget: (name: string) => void;
}

/** How many sessions can be looked at. */
export const MOST = 16;
const SUBPROTOCOL = "openenv.watch";
const TOKEN = "openenv.watch.token";
/** Sessions whose beginnings are further apart are two, though they have one name: the server was started anew. */
const SAME_MS = 10_000;

/** The running sessions of a server, as they step. It asks nothing of them. */
export class Feed {
  readonly standing: Signal<Standing> = signal({ phase: "asking", message: "" });
  readonly sessions: Signal<Listed[]> = signal([]);
  readonly watched: Signal<ReadonlyMap<string, Watched>> = signal(new Map());
  readonly isPaused: Signal<boolean> = signal(false);
  readonly #page: URL;
  readonly #browser: Browser;
  readonly #began = new Map<string, number>();
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #token: string | null = null;

  constructor(page: URL, browser: Browser = ownBrowser()) {
    this.#page = page;
    this.#browser = browser;
  }

  /** Begins, if this tab was given a token before. */
  begin(): void {
    const token = this.#browser.read(TOKEN);
    if (token) this.open(token);
  }

  /** Begins with a token. */
  open(token: string): void {
    this.close();
    this.#token = token;
    this.#attempt = 0;
    this.#connect();
  }

  /** Ends. */
  close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** Looks at a session, or no longer. */
  pick(id: string, on: boolean): void {
    const next = new Map(this.watched.value);
    if (!on) next.delete(id);
    else if (!next.has(id) && next.size < MOST) next.set(id, new Watched(id));
    this.watched.value = next;
    this.#choose();
  }

  /** Stands still: what happens meanwhile is not recorded. Or goes on. */
  pause(on: boolean): void {
    this.isPaused.value = on;
    if (!on) this.#resume();
    this.#choose();
  }

  #connect(): void {
    if (this.#token === null) return;
    this.standing.value = { phase: "connecting", message: "Connecting…" };
    const address = new URL("./watch", this.#page);
    address.search = address.hash = "";
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = this.#browser.socket(address, [SUBPROTOCOL, bearer(this.#token)]);
    let opened = false;
    this.#socket = socket;
    socket.onopen = () => {
      opened = true;
      this.#opened();
    };
    socket.onmessage = (message) => {
      if (this.#socket === socket) this.#take(JSON.parse(String(message.data)) as Told);
    };
    socket.onclose = () => {
      if (this.#socket === socket) void this.#closed(opened);
    };
  }

  #opened(): void {
    this.#attempt = 0;
    if (this.#token !== null) this.#browser.keep(TOKEN, this.#token);
    this.standing.value = { phase: "live", message: "" };
    this.#resume();
    this.#choose();
  }

  async #closed(opened: boolean): Promise<void> {
    const socket = this.#socket;
    const refused = !opened && (await this.#browser.answers(this.#page));
    if (this.#socket !== socket) return;
    this.#socket = null;
    if (refused) {
      this.#token = null;
      this.#browser.forget(TOKEN);
      this.standing.value = {
        phase: "asking",
        message: "The server does not accept this token for watching.",
      };
      return;
    }
    this.standing.value = { phase: "lost", message: "The connection is lost. Trying again…" };
    this.#timer = setTimeout(() => this.#connect(), pauseMs(this.#attempt, Math.random()));
    this.#attempt += 1;
  }

  #take(told: Told): void {
    if (told.type === "sessions") this.#list(told.sessions);
    else if (told.type === "event") this.#happened(told);
    else if (told.type === "skipped") this.#skipped(told.id, told.count);
    else if (told.type === "error") this.standing.value = { phase: "live", message: told.error.message };
  }

  #list(sessions: Listed[]): void {
    const now = Date.now();
    batch(() => {
      this.sessions.value = sessions;
      for (const { id, since_s } of sessions) this.#recognise(id, now - since_s * 1000);
      const alive = new Set(sessions.map(({ id }) => id));
      for (const watched of this.watched.value.values())
        if (!alive.has(watched.id)) watched.isClosed.value = true;
      for (const id of this.#began.keys()) if (!alive.has(id)) this.#began.delete(id);
    });
  }

  #recognise(id: string, began: number): void {
    const known = this.#began.get(id);
    this.#began.set(id, began);
    const watched = this.watched.value.get(id);
    const isOther = known !== undefined && Math.abs(began - known) > SAME_MS;
    if (watched && (isOther || watched.isClosed.value))
      this.watched.value = new Map(this.watched.value).set(id, new Watched(id));
  }

  #happened(event: Happened): void {
    batch(() => this.watched.value.get(event.id)?.take(event));
  }

  #skipped(id: string, count: number): void {
    const watched = this.watched.value.get(id);
    if (watched) watched.skipped.value += count;
  }

  #resume(): void {
    for (const watched of this.watched.value.values()) watched.resume();
  }

  #choose(): void {
    if (this.standing.value.phase !== "live") return;
    const watch = this.isPaused.value ? [] : [...this.watched.value.keys()];
    this.#socket?.send(JSON.stringify({ watch }));
  }
}

function ownBrowser(): Browser {
  return {
    socket: (address, subprotocols) => new WebSocket(address, subprotocols),
    answers: async (page) => {
      try {
        return (await fetch(new URL("./config.json", page), { cache: "no-store" })).ok;
      } catch {
        return false;
      }
    },
    read: (name) => stored((storage) => storage.getItem(name)),
    keep: (name, value) => void stored((storage) => storage.setItem(name, value)),
    forget: (name) => void stored((storage) => storage.removeItem(name)),
  };
}
