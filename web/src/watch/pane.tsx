import "./watch.css";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { counted } from "../figures";
import { TokenForm } from "../form/token_form";
import type { Environment, Result } from "../types";
import { Card } from "./card";
import { Feed, MOST } from "./feed";
import { SessionTable } from "./session_table";

interface Props {
  page: URL;
  environment: Environment;
  renderObservation: (result: Result, previous: Result | undefined) => ComponentChildren;
}

/** The running sessions of this server, as they step. Nothing can be done to them here. */
export function WatchPane({ page, ...card }: Props) {
  const [feed] = useState(() => new Feed(page));
  useEffect(() => {
    feed.begin();
    return () => feed.close();
  }, [feed]);
  const { phase, message } = feed.standing.value;
  if (phase === "asking") return <Asking refusal={message} onToken={(token) => feed.open(token)} />;
  const watched = feed.watched.value;
  const sessions = feed.sessions.value;
  return (
    <div class="watch-pane">
      <Bar feed={feed} />
      {sessions.length > 0 && (
        <SessionTable
          sessions={sessions}
          picked={watched}
          isFull={watched.size >= MOST}
          onPick={(id, on) => feed.pick(id, on)}
        />
      )}
      {phase === "live" && sessions.length === 0 && (
        <p class="watch-empty">No session is running. One appears here as soon as it begins.</p>
      )}
      {watched.size === 0 && sessions.length > 0 && (
        <p class="watch-empty">Pick sessions, up to {MOST}, to see what they do.</p>
      )}
      <div class="watch-cards">
        {[...watched.values()].map((one) => (
          <Card key={one.id} watched={one} {...card} onLeave={() => feed.pick(one.id, false)} />
        ))}
      </div>
    </div>
  );
}

function Asking(props: { refusal: string; onToken: (token: string) => void }) {
  return (
    <TokenForm {...props} title="Watch running sessions" label="Watch token" submitLabel="Watch">
      A trainer's sessions can be looked at, step by step. It takes the server's watch token
      (OPENENV_WATCH_TOKEN), which is kept in this tab alone.
    </TokenForm>
  );
}

function Bar({ feed }: { feed: Feed }) {
  const isPaused = feed.isPaused.value;
  const { message } = feed.standing.value;
  return (
    <div class="watch-bar">
      <h2>Sessions</h2>
      <p class="watch-standing" role="status">
        {message || `${counted(feed.sessions.value.length, "session")}${isPaused ? ", paused" : ", live"}`}
      </p>
      <button
        type="button"
        class="button"
        disabled={feed.watched.value.size === 0}
        onClick={() => feed.pause(!isPaused)}
      >
        {isPaused ? "Go on" : "Pause"}
      </button>
    </div>
  );
}
