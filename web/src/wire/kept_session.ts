/** Which session is this tab's, over a reload. Memory where the browser forbids storage. */
import { stored } from "../storage";
import type { Ticket } from "./v2";

/** One tab's session at one server. */
export class KeptSession {
  /** Whether this tab was duplicated from another, where its episode goes on. */
  readonly copied: boolean;
  readonly #name: string;
  #memory: string | null;

  constructor(address: string, copied = false) {
    this.copied = copied;
    this.#name = `openenv.session:${address}`;
    this.#memory = stored((storage) => storage.getItem(this.#name));
  }

  /** The session that was kept, if there is one. */
  read(): Ticket | null {
    try {
      return ticketIn(JSON.parse(this.#memory ?? "null"));
    } catch {
      return null;
    }
  }

  /** Keeps a session. */
  write(ticket: Ticket): void {
    this.#memory = JSON.stringify(ticket);
    stored((storage) => storage.setItem(this.#name, this.#memory ?? ""));
  }

  /** Keeps none. */
  forget(): void {
    this.#memory = null;
    stored((storage) => storage.removeItem(this.#name));
  }
}

function ticketIn(value: unknown): Ticket | null {
  const { sessionId, token, seq } = (value ?? {}) as Partial<Ticket>;
  const whole = typeof sessionId === "string" && typeof token === "string";
  return whole && typeof seq === "number" ? { sessionId, token, seq } : null;
}
