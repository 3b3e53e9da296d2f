/** What the wire says to people. Those that tell why an episode is gone end without a full stop. */

export const FIRST = "Not connected: the first action opens a session of your own.";
export const LET_GO = "The connection rests, to free its slot. The next action goes on with your episode.";
export const OPEN = "Connected: this session is yours alone.";
export const BROKEN = "The connection broke. Coming back to your episode…";
export const COPY = "This tab is a copy of another, where the episode goes on";
export const GIVEN_AWAY =
  "Your episode is gone: while it had no connection its slot was given to somebody else, or the " +
  "server was started anew";
export const ANEW = "The server was started anew: your episode is gone";
export const CONNECTING = "Connecting…";
export const RETURNING = "Coming back to your episode…";
export const BUSY = "Waiting for the environment…";
export const LEFT = "You left the episode";
export const TAKEN_OVER = "Another tab or client has taken this episode over";
export const UNREACHED = "The server could not be reached for longer than it keeps an episode";
export const BROKEN_FOR_GOOD = "The connection broke, and with it the episode";
export const ABANDONED = "Nothing was done for five minutes, so the session was ended to free its slot";

/** A place in the queue of a full server. */
export function queued(position: number, waiting: number): string {
  const place = position === 1 ? "you are next" : `you are number ${position} of ${waiting}`;
  return `The server is full: ${place} in its queue.`;
}
