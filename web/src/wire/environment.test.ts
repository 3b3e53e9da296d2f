import { afterEach, expect, it, vi } from "vitest";
import type { Json } from "../types";
import { loadEnvironment } from "./environment";

const page = new URL("http://127.0.0.1/web/");

/** A server that answers these. */
function serving(answers: Record<string, Json>): void {
  vi.stubGlobal("fetch", (address: URL) => {
    const answer = answers[address.pathname];
    return Promise.resolve(
      answer === undefined ? new Response("", { status: 404 }) : new Response(JSON.stringify(answer)),
    );
  });
}

afterEach(() => void vi.unstubAllGlobals());

it.each([true, false, null, 5, "x", [[1]]])(
  "reads a schema that is %j as one that allows anything",
  async (odd) => {
    serving({
      "/metadata": { name: "a", description: "b" },
      "/schema": { action: odd, observation: odd, state: odd },
      "/web/config.json": { reset: odd },
    });
    const { schemas, config } = await loadEnvironment(page);
    expect(schemas).toEqual({ action: {}, observation: {}, state: {} });
    expect(config.reset).toBeNull();
  },
);

it("keeps what is sound", async () => {
  const schema = { type: "object" };
  const schemas = { action: schema, observation: schema, state: schema };
  serving({
    "/metadata": { name: "a", version: "1" },
    "/schema": schemas,
    "/web/config.json": { reset: schema },
  });
  const environment = await loadEnvironment(page);
  expect(environment.schemas).toEqual(schemas);
  expect(environment.config.reset).toEqual(schema);
  expect(environment.metadata).toEqual({ name: "a", description: "", version: "1" });
});

it("takes words that are no text as unsaid", async () => {
  serving({ "/metadata": { name: 5, description: {}, readme_content: [] }, "/schema": {} });
  const { metadata } = await loadEnvironment(page);
  expect(metadata).toEqual({ name: "environment", description: "" });
});

it.each([null, [[]], "x", 5])("says that an answer is %j", async (odd) => {
  serving({ "/metadata": { name: "a" }, "/schema": odd });
  await expect(loadEnvironment(page)).rejects.toThrow(`/schema with 200: ${JSON.stringify(odd)}`);
});
