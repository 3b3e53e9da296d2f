/** One socket while it lasts: a frame goes out, and its answer is waited for. */
import { failure, type WireFailure } from "./failure";
import type { Connect, Link } from "./link";
import { PING_MS, PONG_MS } from "./patience";
import type { V1 } from "./v1";
import type { V2 } from "./v2";
import type { Word } from "./words";

/** What a socket tells that nobody asked for. */
export interface Events {
  queued(position: number, waiting: number): void;
  /** The server ended the session. */
  ended(failure: WireFailure): void;
  /** The socket is gone while nobody waited for an answer. */
  cut(): void;
}

interface Waiting {
  resolve(word: Word | null): void;
  reject(reason: unknown): void;
}

/** One socket, and who waits for an answer on it. */
export class Exchange {
  /** Whether the socket is there, as far as is known. */
  alive = true;
  #waiting: Waiting | null = null;
  #heardAt = 0;
  #pong: ReturnType<typeof setTimeout> | undefined;

  private constructor(
    private link: Link,
    readonly talk: V1 | V2,
    private events: Events,
  ) {}

  /** Connects. `talkOver` gives what is spoken, once it is known which version that is. */
  static async over(
    connect: Connect,
    talkOver: (protocol: "v1" | "v2") => V1 | V2,
    events: Events,
    signal: AbortSignal,
  ): Promise<Exchange> {
    let exchange: Exchange | null = null;
    const listener = {
      frame: (text: string) => {
        if (exchange) exchange.#receive(text);
      },
      closed: () => {
        if (exchange) exchange.#cut();
      },
    };
    const link = await connect(listener, signal);
    try {
      exchange = new Exchange(link, talkOver(link.protocol), events);
    } catch (error) {
      link.close();
      throw error;
    }
    return exchange;
  }

  /**
   * Sends a frame and gives the word that answers it; `null` if the socket was cut before.
   * Rejects when the time is up, or with the signal's reason.
   */
  async hear(frame: string, limitMs: number | null, signal: AbortSignal): Promise<Word | null> {
    if (!this.alive) return null;
    signal.throwIfAborted();
    const leave = (): void => this.#waiting?.reject(signal.reason);
    const late = (): void => this.#waiting?.reject(tooLate(limitMs ?? 0));
    const timer = limitMs === null ? undefined : setTimeout(late, limitMs);
    const beat = setInterval(() => this.probe(), PING_MS);
    signal.addEventListener("abort", leave);
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.link.send(frame);
      });
    } finally {
      this.#waiting = null;
      clearTimeout(timer);
      clearInterval(beat);
      signal.removeEventListener("abort", leave);
    }
  }

  /** Asks for a sign of life, where that can be asked; a socket that gives none is cut. */
  probe(): void {
    if (this.talk.protocol === "v1" || this.#pong !== undefined || !this.alive) return;
    const asked = performance.now();
    this.link.send(this.talk.ping());
    this.#pong = setTimeout(() => {
      this.#pong = undefined;
      if (this.#heardAt < asked) this.#cut();
    }, PONG_MS);
  }

  /** Sends a last frame, if there is one, and closes the socket; it tells nothing more. */
  close(farewell?: string): void {
    if (this.alive && farewell) this.link.send(farewell);
    this.alive = false;
    clearTimeout(this.#pong);
    this.link.close();
  }

  #receive(text: string): void {
    this.#heardAt = performance.now();
    try {
      this.#take(this.talk.receive(text));
    } catch (error) {
      this.#waiting?.reject(error);
    }
  }

  #take(word: Word): void {
    if (word.kind === "queued") this.events.queued(word.position, word.waiting);
    else if (word.kind === "ended" && !this.#waiting) this.events.ended(word.failure);
    else if (word.kind !== "alive") this.#waiting?.resolve(word);
  }

  #cut(): void {
    if (!this.alive) return;
    this.close();
    if (this.#waiting) this.#waiting.resolve(null);
    else this.events.cut();
  }
}

function tooLate(limitMs: number): WireFailure {
  return failure(
    "REPLY_TIMEOUT",
    `No answer within ${Math.round(limitMs / 1000)} s, which is longer than the server allows ` +
      "itself. The next action goes on with the episode, if it is still there.",
    true,
  );
}
