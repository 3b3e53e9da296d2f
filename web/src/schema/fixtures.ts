import { readFileSync } from "node:fs";
import type { Schema } from "../types";

/** Real schemas, for tests: those of the packaged environments, and one with everything in it. */
function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

export const ENVIRONMENTS = fixture("envs") as Record<string, Schema>;
export const MONSTER = fixture("monster") as Schema;
