/** For tests: a server of both versions of the wire, without sockets. Its environment counts steps. */
import type { JsonObject } from "../types";
import { failure } from "./failure";
import type { Connect, Listener } from "./link";

interface Counting {
  id: string;
  last: number;
  steps: number;
  reply: JsonObject;
}

interface Ask extends JsonObject {
  id: number;
  op: string;
  data: JsonObject;
}

/** A server that can be cut off, started anew, filled, and made to lose frames. */
export class FakeServer {
  protocol: "v1" | "v2" = "v2";
  sessions = new Map<string, Counting>();
  /** Why connections fail; `null` while they don't. */
  down: string | null = null;
  full = false;
  /** Swallows this many replies, then cuts the socket. */
  swallow = 0;
  /** Answers nothing. */
  silent = false;
  connections = 0;
  asked: Ask[] = [];
  limits: JsonObject = { step_timeout_s: 60, reset_timeout_s: 60, resume_grace_s: 300 };
  #made = 0;
  #client: Listener | null = null;
  #current: Counting | null = null;

  readonly connect: Connect = async (listener, signal) => {
    await Promise.resolve();
    signal.throwIfAborted();
    this.connections += 1;
    if (this.down) throw failure(this.down, "no server", true);
    this.#client = listener;
    this.#current = this.protocol === "v1" ? this.#session() : null;
    return {
      protocol: this.protocol,
      send: (frame) => void queueMicrotask(() => this.#receive(listener, JSON.parse(frame) as Ask)),
      close: () => {
        if (this.#client === listener) this.#client = null;
      },
    };
  };

  get connected(): boolean {
    return this.#client !== null;
  }

  /** Ends the socket. */
  cut(): void {
    const client = this.#client;
    this.#client = null;
    client?.closed();
  }

  /** Ends the socket and forgets every session. */
  restart(): void {
    this.sessions.clear();
    this.cut();
  }

  /** Tells a client something that it did not ask for. */
  say(type: string, data: JsonObject): void {
    this.#client?.frame(JSON.stringify({ type, ch: 0, data }));
  }

  /** Gives the one in the queue its session. */
  admit(): void {
    this.full = false;
    const ask = this.asked.findLast(({ op }) => op === "open");
    if (ask && this.#client) this.#receive(this.#client, ask);
  }

  #session(): Counting {
    const session = { id: `s${++this.#made}`, last: 0, steps: 0, reply: {} };
    this.sessions.set(session.id, session);
    return session;
  }

  #receive(client: Listener, ask: Ask): void {
    if (this.#client !== client) return;
    this.asked.push(ask);
    if (this.silent) return;
    const [type, data] = ask.op === "open" ? this.#open(ask.data) : this.#answer(ask);
    if (!type) return;
    if (this.swallow > 0) {
      this.swallow -= 1;
      if (this.swallow === 0) this.cut();
      return;
    }
    client.frame(JSON.stringify({ ...(this.protocol === "v2" && { id: ask.id, ch: 0 }), type, data }));
  }

  #open(data: JsonObject): [string, JsonObject] {
    if (this.full) {
      this.say("queued", { position: 2, waiting: 2 });
      return ["", {}];
    }
    const wanted = data.session_id;
    const session = wanted ? this.sessions.get(String(wanted)) : this.#session();
    if (!session) return ["error", { code: "SESSION_GONE", message: "no such session" }];
    this.#current = session;
    const { id, last } = session;
    return ["opened", { session_id: id, token: "t", resumed: !!wanted, seq: last, limits: this.limits }];
  }

  #answer(ask: Ask): [string, JsonObject] {
    const session = this.#current;
    const op = ask.op ?? String(ask.type);
    if (op === "ping") return ["pong", {}];
    if (!session) return ["error", { code: "SESSION_GONE", message: "closed" }];
    if (op === "close") {
      this.sessions.delete(session.id);
      return ["closed", {}];
    }
    if (op === "state") return ["state", { session: session.id, steps: session.steps }];
    if (ask.data.fail) return ["error", { code: String(ask.data.fail), message: "failed" }];
    if (ask.seq !== undefined && ask.seq === session.last) return ["observation", session.reply];
    session.last += 1;
    session.steps = op === "reset" ? 0 : session.steps + 1;
    const observation = { session: session.id, steps: session.steps };
    session.reply = { observation, reward: 1, done: false };
    return ["observation", session.reply];
  }
}
