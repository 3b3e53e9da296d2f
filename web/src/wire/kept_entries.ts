/** The history that survives a reload: IndexedDB, bounded over all tabs, oldest dropped first. */
import type { Entry } from "../types";

/** The most that is kept, of all tabs. */
export interface Bounds {
  entries: number;
  /** Of the entries as JSON; a character takes two bytes at most. */
  characters: number;
}

const BOUNDS: Bounds = { entries: 10_000, characters: 16 * 1024 * 1024 };
const DATABASE = "openenv";
const STORE = "entries";
const OPEN_MS = 2_000;

interface Stored {
  tab: string;
  size: number;
  entry: Entry;
}

/** One tab's history at one server. Where the browser forbids storage, nothing is kept. */
export class KeptEntries {
  /** How much may be written before the bounds are looked at again. */
  #room: Bounds = { entries: 0, characters: 0 };
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly database: IDBDatabase | null,
    private readonly tab: string,
    private readonly bounds: Bounds,
  ) {}

  /** Opens what was kept under a name. Never rejects. */
  static async open(tab: string, bounds = BOUNDS): Promise<KeptEntries> {
    return new KeptEntries(await opened().catch(() => null), tab, bounds);
  }

  /** What the history was, oldest first. */
  async load(): Promise<Entry[]> {
    try {
      const found = await this.#use("readonly", (store) => store.index("tab").getAll(this.tab));
      return ((found ?? []) as Stored[]).map(({ entry }) => entry);
    } catch {
      return [];
    }
  }

  /** Keeps one more entry, at leisure. */
  append(entry: Entry): void {
    const size = JSON.stringify(entry).length;
    if (size > this.bounds.characters) return;
    this.#later(async () => {
      if (this.#room.entries < 1 || this.#room.characters < size) await this.#makeRoom(size);
      this.#room.entries -= 1;
      this.#room.characters -= size;
      await this.#use("readwrite", (store) => store.add({ tab: this.tab, size, entry }));
    });
  }

  /** Forgets the history. */
  clear(): void {
    this.#later(() => this.#walk("tab", IDBKeyRange.only(this.tab), (cursor) => cursor.delete() && true));
  }

  /** Ends when all is written that was kept so far. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #later(write: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(write).catch(() => undefined); // no room: memory has it
  }

  /** Drops the oldest entries of all tabs, a tenth more than has to be: not again at the next. */
  async #makeRoom(needed: number): Promise<void> {
    const kept = { entries: 0, characters: needed };
    await this.#walk("size", null, (cursor) => {
      kept.entries += 1;
      kept.characters += Number(cursor.key);
      return true;
    });
    const { entries, characters } = this.bounds;
    const wanted = { entries: entries * 0.9, characters: characters * 0.9 };
    if (kept.entries >= entries || kept.characters > characters) {
      await this.#walk(null, null, (cursor) => {
        if (kept.entries <= wanted.entries && kept.characters <= wanted.characters) return false;
        kept.entries -= 1;
        kept.characters -= (cursor.value as Stored).size;
        return cursor.delete() && true;
      });
    }
    // Other tabs write too: a part of what is free, before it is counted again.
    this.#room.entries = Math.max(1, Math.floor((entries - kept.entries) / 4));
    this.#room.characters = needed + (characters - kept.characters) / 4;
  }

  async #use<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
    if (!this.database) return null;
    return done(ask(this.database.transaction(STORE, mode).objectStore(STORE)));
  }

  /** Visits the entries, in the order of an index or of their age, while `visit` wants more. */
  async #walk(
    index: "tab" | "size" | null,
    range: IDBKeyRange | null,
    visit: (cursor: IDBCursorWithValue) => boolean,
  ): Promise<void> {
    if (!this.database) return;
    const store = this.database.transaction(STORE, "readwrite").objectStore(STORE);
    const asked = (index ? store.index(index) : store).openCursor(range);
    await new Promise<void>((resolve, reject) => {
      asked.onerror = () => reject(asked.error ?? new Error("IndexedDB failed"));
      asked.onsuccess = () => {
        const cursor = asked.result;
        if (cursor && visit(cursor)) cursor.continue();
        else resolve();
      };
    });
  }
}

async function opened(): Promise<IDBDatabase> {
  const asked = indexedDB.open(DATABASE, 1);
  asked.onupgradeneeded = () => {
    const store = asked.result.createObjectStore(STORE, { autoIncrement: true });
    store.createIndex("tab", "tab");
    store.createIndex("size", "size");
  };
  return inTime(done(asked));
}

/** A browser that never answers, as while another page holds on to its database, keeps nothing. */
function inTime<T>(asked: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("IndexedDB does not answer")), OPEN_MS);
    asked.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

function done<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("IndexedDB failed"));
  });
}
