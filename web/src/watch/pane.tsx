import "./watch.css";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { counted } from "../history/format";
import type { Environment, Result } from "../types";
import { Card } from "./card";
import { Feed, MOST } from "./feed";
import { SessionTable } from "./session_table";
import { WatchToken } from "./watch_token";

interface Props {
  page: URL;
  environment: Environment;
  renderObservation: (result: Result, previous: Result | undefined) => ComponentChildren;
}

/** The running sessions of this server, as they step. Nothing can be done to them here. */
export function WatchPane({ page, environment, renderObservation }: Props) {
  const [feed] = useState(() => new Feed(page));
  useEffect(() => {
    feed.begin();
    return () => feed.close();
  }, [feed]);
  const { phase, message } = feed.standing.value;
  if (phase === "asking") return <WatchToken message={message} onToken={(token) => feed.open(token)} />;
  const watched = feed.watched.value;
  const sessions = feed.sessions.value;
  return (
    <div class="watch-pane">
      <div class="watch-bar">
        <h2>Sessions</h2>
        <p class="watch-standing" role="status">
          {message || `${counted(sessions.length, "session")}${feed.isPaused.value ? ", paused" : ", live"}`}
        </p>
        <button
          type="button"
          class="button"
          disabled={watched.size === 0}
          onClick={() => feed.pause(!feed.isPaused.value)}
        >
          {feed.isPaused.value ? "Go on" : "Pause"}
        </button>
      </div>
      {sessions.length > 0 ? (
        <SessionTable
          sessions={sessions}
          picked={watched}
          isFull={watched.size >= MOST}
          onPick={(id, on) => feed.pick(id, on)}
        />
      ) : (
        phase === "live" && <p class="watch-empty">No session is running. One appears here as soon as it begins.</p>
      )}
      {watched.size === 0 && sessions.length > 0 && (
        <p class="watch-empty">Pick sessions, up to {MOST}, to see what they do.</p>
      )}
      <div class="watch-cards">
        {[...watched.values()].map((one) => (
          <Card
            key={one.id}
            watched={one}
            environment={environment}
            renderObservation={renderObservation}
            onLeave={() => feed.pick(one.id, false)}
          />
        ))}
      </div>
    </div>
  );
}
