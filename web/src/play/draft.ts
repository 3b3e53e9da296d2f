/** What was typed into the form and not sent yet: a reload keeps it, for this tab alone. */
import { isObject } from "../json";
import { stored } from "../storage";
import type { JsonObject } from "../types";

const MOST = 200_000;

/** A tab's draft of an action of the server at an address. */
export class Draft {
  readonly #name: string;

  constructor(address: string) {
    this.#name = `openenv.draft ${address}`;
  }

  /** The draft, if there is one. */
  read(): JsonObject | undefined {
    const text = stored((storage) => storage.getItem(this.#name));
    try {
      const value: unknown = JSON.parse(text ?? "null");
      return isObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps it; one that is too large is forgotten. */
  write(value: JsonObject): void {
    const text = JSON.stringify(value);
    stored((storage) =>
      text.length > MOST ? storage.removeItem(this.#name) : storage.setItem(this.#name, text),
    );
  }
}
