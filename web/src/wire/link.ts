/** One WebSocket, and why there is none. */
import type { Config } from "../types";
import { bearer, endpoint, socketAddress } from "./address";
import { failure, messageOf, type WireFailure } from "./failure";

/** An open socket. */
export interface Link {
  readonly protocol: "v1" | "v2";
  send(frame: string): void;
  close(): void;
}

/** What a socket tells. After `close()` it tells nothing more. */
export interface Listener {
  frame(text: string): void;
  closed(): void;
}

/** Opens a socket. Rejects with a `WireFailure` that says why there is none. */
export type Connect = (listener: Listener, signal: AbortSignal) => Promise<Link>;

const V2 = "openenv.v2+json";
/** Browsers end a socket whose server names no subprotocol, so v1 has a name here. */
const V1 = "openenv.v1";

/** How a page connects to its server. */
export function connecting(page: URL, token?: string): Connect {
  const offered = [V2, V1, ...(token ? [bearer(token)] : [])];
  return (listener, signal) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(socketAddress(page), offered);
      const close = (): void => {
        socket.onmessage = socket.onclose = null;
        socket.close();
      };
      const giveUp = (): void => {
        close();
        reject(signal.reason);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      socket.onclose = () => {
        signal.removeEventListener("abort", giveUp);
        whyRefused(page, token, signal).then(reject, reject);
      };
      socket.onopen = () => {
        signal.removeEventListener("abort", giveUp);
        socket.onmessage = (event) => listener.frame(String(event.data));
        socket.onclose = () => listener.closed();
        const protocol = socket.protocol === V2 ? "v2" : "v1";
        resolve({ protocol, send: (frame) => socket.send(frame), close });
      };
    });
}

/** Browsers don't say why a socket was refused: what the server's other endpoints tell of it. */
async function whyRefused(page: URL, token: string | undefined, signal: AbortSignal): Promise<WireFailure> {
  try {
    const schema = await ask(endpoint(page, "schema"), token, signal);
    if (schema.status === 401) return unauthorized(token);
    if (schema.status >= 500) return unreachable(`it answers ${schema.status}`);
    const state = await ask(endpoint(page, "state"), token, signal);
    if (state.status === 401 || state.status === 403) return closed();
    const config = await ask(endpoint(page, "web/config.json"), token, signal);
    const told = config.ok ? ((await config.json()) as Partial<Config>) : {};
    return told.mode === "production" ? closed() : refused();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return unreachable(messageOf(error));
  }
}

/** A GET of the page's own server, with its token. */
export function ask(address: URL, token?: string, signal?: AbortSignal): Promise<Response> {
  const headers: HeadersInit = token ? { Authorization: `Bearer ${token}` } : {};
  return fetch(address, { headers, ...(signal && { signal }) });
}

/** The server wants a token, or another one. */
export function unauthorized(token: string | undefined): WireFailure {
  const which = token ? "The token is not this server's." : "This server asks for its token.";
  return failure("UNAUTHORIZED", `${which} Whoever runs it knows it (OPENENV_TOKEN).`);
}

/** Nobody answers. */
export function unreachable(why: string): WireFailure {
  return failure(
    "UNREACHABLE",
    `The server can't be reached (${why}). Is it running, and is this page's address its own?`,
    true,
  );
}

function refused(): WireFailure {
  return failure(
    "REFUSED",
    "The server answers, but refuses this page's connection: it must allow the address that the " +
      "page was loaded from (OPENENV_ALLOWED_ORIGINS), and proxies must let WebSockets through.",
  );
}

function closed(): WireFailure {
  return failure(
    "CONTROL_CLOSED",
    "Only those control episodes here who show the control token (OPENENV_CONTROL_TOKEN on the server); " +
      "the others may look, and call tools.",
  );
}
