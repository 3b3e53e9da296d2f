import { expect, it } from "vitest";
import { python, pythonCall, shell } from "./literals";
import { environment, failed, newLog, outcome, played, typed } from "./samples";
import { asCurl, asJson, asPython } from "./snippets";

it("writes a program with the environment's own classes", () => {
  expect(asPython([...played()], typed)).toBe(`# A try that failed is left out.
import asyncio

from echo_env import EchoAction, EchoEnv


async def main() -> None:
    async with EchoEnv(base_url="http://localhost:8000") as env:
        result = await env.reset(seed=1)
        for action in [
            EchoAction(message="hi"),
            EchoAction(message="there"),
        ]:
            result = await env.step(action)
            print(result.observation, result.reward, result.done)


asyncio.run(main())
`);
});

it("writes a blocking program in plain dicts where the environment names no classes", () => {
  const log = newLog();
  log.record(outcome("step", { message: "hi" }));
  expect(asPython([...log], environment, "sync")).toBe(`from openenv import GenericEnvClient

with GenericEnvClient(base_url="http://localhost:8000").sync() as env:
    result = env.reset()
    result = env.step({"message": "hi"})
    print(result.observation, result.reward, result.done)
`);
});

it("calls tools by their own actions", () => {
  const log = newLog();
  log.record(outcome("step", { type: "call_tool", tool_name: "add", arguments: { a: 1 } }));
  const program = asPython([...log], typed);
  expect(program).toContain("from echo_env import EchoEnv\nfrom openenv import CallToolAction\n");
  expect(program).toContain('env.step(CallToolAction(tool_name="add", arguments={"a": 1}))');
});

it("keeps a failed try that is all there is, and says where a token comes from", () => {
  const log = newLog();
  log.record(failed({ move: 9 }));
  const guarded = { ...environment, config: { ...environment.config, needs_token: true } };
  expect(asPython([...log], guarded)).toContain('env.step({"move": 9})');
  expect(asPython([...log], guarded)).toContain("OPENENV_CLIENT_TOKEN");
  expect(asCurl([...log], guarded)).toContain('"Authorization: Bearer $OPENENV_CLIENT_TOKEN"');
});

it("imports nothing but names", () => {
  const hostile = {
    ...typed,
    config: { ...typed.config, python: { module: "os; x", client: "a", action: null } },
  };
  expect(asPython([...played()], hostile)).toContain("from openenv import GenericEnvClient\n");
});

it("writes curl in one session", () => {
  const text = asCurl([...played()], environment);
  expect(text).toContain("BASE=http://localhost:8000\n");
  expect(text).toContain(`call POST reset '{"seed":1}'\ncall POST step '{"action":{"message":"hi"}}'\n`);
  expect(text.endsWith("call DELETE session\n")).toBe(true);
});

it("writes JSON of one entry or of more", () => {
  const log = newLog();
  const one = log.record(
    outcome("step", { a: 1 }, { result: { observation: {}, reward: Number.NaN, done: true } }),
  );
  expect(JSON.parse(asJson([one]))).toEqual({
    kind: "step",
    action: { a: 1 },
    observation: {},
    reward: "NaN",
    done: true,
  });
  expect(JSON.parse(asJson([...played()]))).toHaveLength(4);
});

it("writes values as Python has them", () => {
  expect(python([null, true, 1.5, Number.NaN, 'a"\n\u202e', { "b c": [] }])).toBe(
    '[None, True, 1.5, float("NaN"), "a\\"\\n\\u202e", {"b c": []}]',
  );
  expect(pythonCall("f", { seed: 1, class: 2 })).toBe('f(seed=1, **{"class": 2})');
  const long = "x".repeat(60);
  expect(python({ a: long, b: [long] })).toBe(`{\n    "a": "${long}",\n    "b": ["${long}"],\n}`);
  expect(shell("it's $HOME")).toBe("'it'\\''s $HOME'");
});
