const REMOVED = [
  "script, noscript, template, meta, link, base, title, form",
  "iframe, frame, frameset, portal, object, embed, applet, video, audio",
  "animate[attributeName$=href], set[attributeName$=href]",
].join();
const ADDRESSES = new Set(["src", "href", "xlink:href", "poster", "background", "data"]);
const DROPPED = new Set([
  "action",
  "formaction",
  "ping",
  "srcset",
  "srcdoc",
  "target",
  "download",
  "autofocus",
  "accesskey",
]);

/**
 * An environment's HTML as a document of its own in which nothing runs, loads or leads anywhere. The sandbox and the
 * policy of the frame forbid all of it anyway; this keeps them from having to.
 */
export function cleaned(html: string): Document {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const element of parsed.querySelectorAll(REMOVED)) element.remove();
  for (const element of parsed.querySelectorAll("*")) cleanAttributes(element);
  for (const style of parsed.querySelectorAll("style"))
    style.textContent = withoutAddresses(style.textContent ?? "");
  parsed.body.prepend(...parsed.head.querySelectorAll("style"));
  return parsed;
}

function cleanAttributes(element: Element): void {
  const leads = element.localName === "a" || element.localName === "area";
  for (const { name, value } of [...element.attributes]) {
    if (isDropped(name.toLowerCase(), value, leads)) element.removeAttribute(name);
    else if (name === "style") element.setAttribute(name, withoutAddresses(value));
  }
}

/** A style that asks nobody for anything. */
function withoutAddresses(style: string): string {
  return style.replace(/@import\b[^;]*;?/gi, "").replace(/url\(\s*(?!["']?\s*(?:data:|#))[^)]*\)/gi, "none");
}

function isDropped(name: string, value: string, leads: boolean): boolean {
  if (name.startsWith("on") || DROPPED.has(name)) return true;
  if (!ADDRESSES.has(name)) return false;
  return leads || !/^\s*(?:#|data:image\/)/i.test(value);
}
