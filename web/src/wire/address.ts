/** Where things are: the page is at `<prefix>/web/`, all else of its server beside it. */

/** The server's base, ending in a slash. */
export function baseAddress(page: URL): URL {
  const base = new URL("..", page);
  base.search = base.hash = "";
  return base;
}

/** An endpoint of the server, such as `schema`. */
export function endpoint(page: URL, path: string): URL {
  return new URL(path, baseAddress(page));
}

/** Where the sessions are. */
export function socketAddress(page: URL): URL {
  const address = endpoint(page, "ws");
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address;
}

/** A subprotocol that shows a token, as a browser can't send headers with a WebSocket. */
export function bearer(token: string): string {
  const bytes = new TextEncoder().encode(token);
  const base64 = btoa(String.fromCharCode(...bytes));
  return `openenv.bearer.${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}
