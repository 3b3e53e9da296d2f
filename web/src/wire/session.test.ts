import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeServer } from "./fake_server";
import { ABANDONED_MS, IDLE_MS } from "./patience";
import { Session, type Ticketing } from "./session";
import type { Ticket } from "./v2";

class Memory implements Ticketing {
  copied = false;
  ticket: Ticket | null = null;
  read = () => this.ticket;
  write = (ticket: Ticket) => {
    this.ticket = { ...ticket };
  };
  forget = () => {
    this.ticket = null;
  };
}

let server: FakeServer;
let memory: Memory;
const page = new URL("http://127.0.0.1/web/");
const visitor = () =>
  new Session({ page, connect: (...all) => server.connect(...all), keeping: { session: memory } });

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  memory = new Memory();
});
afterEach(() => void vi.useRealTimers());

/** Lets everything happen that takes no longer. */
const within = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const failing = async (call: Promise<unknown>) => {
  const caught = call.catch((error: unknown) => error);
  await within(0);
  return caught;
};

describe("a session", () => {
  it("begins with the first action, and goes on with it", async () => {
    const session = visitor();
    await within(1000);
    expect([session.status.value.phase, server.connections]).toEqual(["idle", 0]);
    await session.reset({});
    const { observation } = await session.step({ move: 1 });
    expect(observation).toEqual({ session: "s1", steps: 1 });
    expect(session.status.value).toMatchObject({ phase: "open" });
    expect(memory.ticket).toEqual({ sessionId: "s1", token: "t", seq: 2 });
  });

  it("has no state before there is an episode, and none is made for that", async () => {
    const session = visitor();
    await expect(session.state()).rejects.toThrow("no episode yet");
    expect(server.connections).toBe(0);
  });

  it("takes one call after another", async () => {
    const session = visitor();
    const steps = await Promise.all([session.step({}), session.step({}), session.step({})]);
    expect(steps.map(({ observation }) => observation.steps)).toEqual([1, 2, 3]);
  });

  it("survives what the environment fails at", async () => {
    const session = visitor();
    await session.reset({});
    await expect(session.step({ fail: "EXECUTION_ERROR" })).rejects.toThrow("failed");
    expect(session.status.value.phase).toBe("open");
    expect((await session.state()).session).toBe("s1");
  });
});

describe("a dropped socket", () => {
  it("is made again at once, and the episode goes on", async () => {
    const session = visitor();
    await session.reset({});
    server.cut();
    expect(server.connected).toBe(false);
    await within(10);
    expect([server.connected, session.status.value.phase]).toEqual([true, "open"]);
    expect((await session.step({})).observation).toEqual({ session: "s1", steps: 1 });
  });

  it("loses no step and repeats none", async () => {
    const session = visitor();
    await session.reset({});
    server.swallow = 1;
    expect((await session.step({})).observation.steps).toBe(1);
    server.down = "UNREACHABLE";
    server.swallow = 1;
    const step = session.step({});
    await within(1000);
    expect(session.status.value.phase).toBe("reconnecting");
    server.down = null;
    await within(3000);
    expect((await step).observation.steps).toBe(2);
    expect(server.sessions.get("s1")?.steps).toBe(2);
  });

  it("is found out by silence", async () => {
    const session = visitor();
    await session.reset({});
    server.silent = true;
    const step = session.step({});
    await within(20_000);
    server.silent = false;
    await within(60_000);
    expect((await step).observation.steps).toBe(1);
    expect(server.connections).toBe(2);
  });

  it("is given up when the server no longer keeps the episode", async () => {
    const session = visitor();
    await session.reset({});
    server.down = "UNREACHABLE";
    server.cut();
    await within(299_000);
    expect(session.status.value.phase).toBe("reconnecting");
    await within(10_000);
    expect(session.status.value.phase).toBe("lost");
  });
});

describe("a server that was started anew", () => {
  it("is told, and only a reset begins another episode", async () => {
    const session = visitor();
    await session.reset({});
    server.restart();
    await within(10);
    expect(session.status.value.phase).toBe("lost");
    expect(session.status.value.message).toContain("The server was started anew");
    expect(await failing(session.step({}))).toMatchObject({ error: { code: "SESSION_LOST" } });
    expect(await failing(session.state())).toMatchObject({ error: { code: "SESSION_LOST" } });
    expect(server.sessions.size).toBe(0);
    expect((await session.reset({})).observation).toEqual({ session: "s2", steps: 0 });
    expect((await session.step({})).observation.steps).toBe(1);
  });

  it("takes a reset that was under way", async () => {
    const session = visitor();
    await session.reset({});
    server.swallow = 2;
    const reset = session.reset({});
    await within(0);
    server.swallow = 0;
    server.restart();
    await within(10);
    expect((await reset).observation).toEqual({ session: "s2", steps: 0 });
  });

  it("does not let steps in after a reset that failed", async () => {
    const session = visitor();
    await session.reset({});
    server.restart();
    await within(10);
    await failing(session.reset({ fail: "EXECUTION_ERROR" }));
    expect(await failing(session.step({}))).toMatchObject({ error: { code: "SESSION_LOST" } });
  });
});

describe("a visitor who does nothing", () => {
  it("lets go of the socket, and comes back with the next action", async () => {
    const session = visitor();
    await session.reset({});
    await within(IDLE_MS);
    expect([server.connected, session.status.value.phase]).toEqual([false, "idle"]);
    expect((await session.step({})).observation).toEqual({ session: "s1", steps: 1 });
  });

  it("is told if the slot was given away", async () => {
    const session = visitor();
    await session.reset({});
    await within(IDLE_MS);
    server.sessions.clear();
    await failing(session.step({}));
    expect(session.status.value.message).toContain("its slot was given to somebody else");
  });

  it("loses a session that can't be resumed, later", async () => {
    server.protocol = "v1";
    const session = visitor();
    await session.reset({});
    await within(IDLE_MS);
    expect(session.status.value.phase).toBe("open");
    await within(ABANDONED_MS);
    expect([server.connected, session.status.value.phase]).toEqual([false, "lost"]);
  });
});

describe("a full server", () => {
  it("keeps a place in its queue, and says which", async () => {
    server.full = true;
    const session = visitor();
    const reset = session.reset({});
    await within(0);
    expect(session.status.value).toMatchObject({
      phase: "queued",
      message: "The server is full: you are number 2 of 2 in its queue.",
    });
    await within(300_000);
    server.admit();
    expect((await reset).observation.session).toBe("s1");
  });

  it("is asked for a place again when the connection breaks", async () => {
    server.full = true;
    const session = visitor();
    const reset = session.reset({});
    await within(0);
    server.cut();
    await within(0);
    expect([server.connections, session.status.value.phase]).toEqual([2, "queued"]);
    server.admit();
    expect((await reset).observation.session).toBe("s1");
  });

  it("can be left", async () => {
    server.full = true;
    const session = visitor();
    const reset = failing(session.reset({}));
    await within(0);
    await session.leave();
    expect(await reset).toMatchObject({ error: { code: "CANCELLED" } });
    expect([server.connected, session.status.value.phase]).toEqual([false, "idle"]);
    server.full = false;
    expect((await session.reset({})).observation.session).toBe("s1");
  });

  it("of the first version says so", async () => {
    server.protocol = "v1";
    const session = visitor();
    await failing(session.reset({ fail: "CAPACITY_REACHED" }));
    expect(session.status.value.phase).toBe("full");
    expect((await session.reset({})).observation.steps).toBe(0);
  });
});

describe("leaving", () => {
  it("ends the session, whatever runs in it", async () => {
    const session = visitor();
    await session.reset({});
    server.silent = true;
    const step = failing(session.step({}));
    await within(0);
    server.silent = false;
    await session.leave();
    expect(await step).toMatchObject({ error: { code: "CANCELLED" } });
    expect(memory.ticket).toBeNull();
    expect(await failing(session.step({}))).toMatchObject({ error: { code: "SESSION_LOST" } });
    expect((await session.reset({})).observation.session).toBe("s2");
  });
});

describe("what was kept over a reload", () => {
  it("is gone on with", async () => {
    await visitor().reset({});
    const session = visitor();
    expect(session.exists).toBe(true);
    expect((await session.step({})).observation).toEqual({ session: "s1", steps: 1 });
  });

  it("is shown to live, or not, when asked", async () => {
    await visitor().reset({});
    const session = visitor();
    await session.resume();
    expect(session.status.value.phase).toBe("open");
    server.restart();
    const late = visitor();
    await late.resume();
    expect(late.status.value.phase).toBe("lost");
  });

  it("is not a copied tab's", async () => {
    await visitor().reset({});
    memory.copied = true;
    const session = visitor();
    expect(session.status.value).toMatchObject({
      phase: "copied",
      message: expect.stringContaining("This tab is a copy of another, where the episode goes on. Reset"),
    });
    expect(await failing(session.step({}))).toMatchObject({ error: { code: "SESSION_LOST" } });
    memory.copied = false;
    expect((await session.reset({})).observation.session).toBe("s2");
  });

  it("may be taken over by another", async () => {
    const session = visitor();
    await session.reset({});
    server.say("error", { code: "TAKEN_OVER", message: "another connection" });
    expect(session.status.value.message).toContain("Another tab or client has taken this episode over");
    expect(memory.ticket).toBeNull();
  });
});

describe("refusals", () => {
  it.each(["UNREACHABLE", "UNAUTHORIZED", "REFUSED"])(
    "by %s are told, and may be tried again",
    async (code) => {
      server.down = code;
      const session = visitor();
      expect(await failing(session.reset({}))).toMatchObject({ error: { code } });
      expect(session.status.value.phase).toBe("refused");
      server.down = null;
      expect((await session.reset({})).observation.session).toBe("s1");
    },
  );

  it("of who may not control an episode leave no session behind", async () => {
    server.protocol = "v1";
    const session = visitor();
    await failing(session.reset({ fail: "CONTROL_CLOSED" }));
    expect([server.connected, session.status.value.phase]).toEqual([false, "refused"]);
  });

  it("of a broken first version end the episode", async () => {
    server.protocol = "v1";
    const session = visitor();
    await session.reset({});
    server.cut();
    expect(session.status.value.phase).toBe("lost");
    expect((await session.reset({})).observation.session).toBe("s2");
  });
});

describe("a session that another object goes on with", () => {
  it("is let go of, not ended", async () => {
    const session = visitor();
    await session.reset({});
    server.silent = true;
    const step = failing(session.step({}));
    await within(0);
    session.dispose();
    expect(await step).toMatchObject({ error: { code: "CANCELLED" } });
    expect([server.connected, memory.ticket?.sessionId]).toEqual([false, "s1"]);
  });
});
