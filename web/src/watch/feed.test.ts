import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Browser, Feed } from "./feed";
import type { Happened, Listed } from "./watched";

/** A server's end of a socket. */
class Socket {
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  closed = false;

  constructor(
    readonly address: URL,
    readonly subprotocols: string[],
  ) {}

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed = true;
    this.onclose?.();
  }

  tell(...frames: object[]): void {
    for (const frame of frames) this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

const listed = (id: string, more: Partial<Listed> = {}): Listed => ({
  id,
  episode_id: null,
  step_count: 0,
  total_reward: 0,
  done: null,
  busy: false,
  playing: false,
  idle_s: 0,
  since_s: 1,
  held: true,
  ...more,
});

let second = 0;
const event = (id: string, kind: Happened["kind"], step_count: number, more: Partial<Happened> = {}) => ({
  type: "event",
  id,
  kind,
  at: new Date(1_750_000_000_000 + 10_000 * second++).toISOString(),
  step_count,
  action: { move: step_count },
  observation: { at: step_count },
  reward: 1,
  done: false,
  latency_ms: 2,
  ...more,
});
const sessions = (...all: Listed[]) => ({ type: "sessions", sessions: all });

function setUp(answers = false) {
  const sockets: Socket[] = [];
  const kept = new Map<string, string>();
  const browser: Browser = {
    socket: (address, subprotocols) => {
      const socket = new Socket(address, subprotocols);
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    answers: async () => answers,
    read: (name) => kept.get(name) ?? null,
    keep: (name, value) => void kept.set(name, value),
    forget: (name) => void kept.delete(name),
  };
  const feed = new Feed(new URL("https://host/envs/a/web/?x=1#y"), browser);
  const newest = (): Socket => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error("no socket");
    return socket;
  };
  const live = () => {
    feed.open("secret");
    newest().onopen?.();
    newest().tell(sessions(listed("s1"), listed("s2")));
  };
  return { feed, sockets, kept, newest, live };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (show: () => void) => show());
  return () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  };
});

describe("the feed", () => {
  it("connects beside the page and shows its token as a subprotocol", () => {
    const { feed, newest, kept } = setUp();
    feed.begin();
    expect(feed.standing.value.phase).toBe("asking");
    feed.open("secret");
    expect(String(newest().address)).toBe("wss://host/envs/a/web/watch");
    expect(newest().subprotocols).toEqual(["openenv.watch", "openenv.bearer.c2VjcmV0"]);
    expect(kept.size).toBe(0);
    newest().onopen?.();
    expect(feed.standing.value.phase).toBe("live");
    expect([...kept.values()]).toEqual(["secret"]);
    feed.close();
    expect(newest().closed).toBe(true);
  });

  it("records what the sessions do that were picked", () => {
    const { feed, newest, live } = setUp();
    live();
    feed.pick("s1", true);
    expect(newest().sent.at(-1)).toBe('{"watch":["s1"]}');
    newest().tell(event("s1", "reset", 0, { reward: null }), event("s1", "step", 1), event("s2", "step", 1));
    newest().tell(event("s1", "state", 1), event("s1", "error", 1, { error: { code: "X", message: "no" } }));
    newest().tell({ type: "skipped", id: "s1", count: 3 }, event("s1", "step", 5), event("s1", "closed", 5));
    const one = feed.watched.value.get("s1");
    expect(
      [...(one?.log ?? [])].map(({ kind, step, total, error }) => [kind, step, total, error?.code]),
    ).toEqual([
      ["reset", 0, 0, undefined],
      ["step", 1, 1, undefined],
      ["step", 1, 1, "X"],
      ["step", 5, 2, undefined],
    ]);
    expect(one?.skipped.value).toBe(3);
    expect(one?.isClosed.value).toBe(true);
    expect(one?.newest.value).toMatchObject({
      result: { observation: { at: 5 } },
      previous: { observation: { at: 1 } },
    });
    feed.pick("s1", false);
    expect(newest().sent.at(-1)).toBe('{"watch":[]}');
  });

  it("takes the episode's total from the server, which saw it all", () => {
    const { feed, newest, live } = setUp();
    live();
    feed.pick("s1", true);
    newest().tell(
      event("s1", "step", 40, { total_reward: 17 }),
      event("s1", "step", 41, { total_reward: null }),
    );
    expect([...(feed.watched.value.get("s1")?.log ?? [])].map(({ total }) => total)).toEqual([17, 18]);
  });

  it("counts what it missed while it stood still, and knows again what it knew", () => {
    const { feed, newest, live } = setUp();
    live();
    feed.pick("s1", true);
    const known = event("s1", "step", 4);
    newest().tell(known);
    feed.pause(true);
    expect(newest().sent.at(-1)).toBe('{"watch":[]}');
    feed.pause(false);
    newest().tell(known);
    const one = feed.watched.value.get("s1");
    expect(one?.log.length).toBe(1);
    feed.pause(true);
    feed.pause(false);
    newest().tell(event("s1", "step", 9));
    expect(one?.skipped.value).toBe(4);
    expect(one?.isUnsure.value).toBe(false);
    feed.pause(true);
    feed.pause(false);
    newest().tell(event("s1", "step", 2));
    expect(one?.log.last).toMatchObject({ episode: 2, step: 2, total: 1 });
    expect(one?.isUnsure.value).toBe(true);
  });

  it("looks at no more than sixteen", () => {
    const { feed, newest, live } = setUp();
    live();
    for (let count = 0; count < 20; count += 1) feed.pick(`s${count}`, true);
    expect(feed.watched.value.size).toBe(16);
    expect((JSON.parse(newest().sent.at(-1) ?? "") as { watch: string[] }).watch).toHaveLength(16);
  });

  it("asks for another token when the server answers, but not to this one", async () => {
    const { feed, newest, kept, sockets } = setUp(true);
    feed.open("wrong");
    newest().onclose?.();
    await vi.runAllTimersAsync();
    expect(feed.standing.value).toMatchObject({
      phase: "asking",
      message: expect.stringContaining("does not accept"),
    });
    expect(kept.size).toBe(0);
    expect(sockets).toHaveLength(1);
  });

  it("comes back after the connection was lost, and goes on looking", async () => {
    const { feed, newest, live, sockets } = setUp();
    live();
    feed.pick("s2", true);
    newest().close();
    await vi.advanceTimersByTimeAsync(0);
    expect(feed.standing.value.phase).toBe("lost");
    await vi.advanceTimersByTimeAsync(6000);
    newest().onclose?.();
    await vi.advanceTimersByTimeAsync(6000);
    expect(sockets).toHaveLength(3);
    newest().onopen?.();
    expect(newest().sent).toEqual(['{"watch":["s2"]}']);
    feed.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(3);
  });

  it("takes a session of a server that was started anew for another one", () => {
    const { feed, newest, live } = setUp();
    live();
    feed.pick("s1", true);
    newest().tell(event("s1", "step", 1));
    const before = feed.watched.value.get("s1");
    newest().tell(sessions(listed("s1", { since_s: 2 })));
    expect(feed.watched.value.get("s1")).toBe(before);
    vi.advanceTimersByTime(60_000);
    newest().tell(sessions(listed("s1", { since_s: 1 })));
    expect(feed.watched.value.get("s1")?.log.length).toBe(0);
    newest().tell(sessions());
    expect(feed.watched.value.get("s1")?.isClosed.value).toBe(true);
  });
});
