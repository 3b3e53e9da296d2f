const REMOVED =
  "script, noscript, template, meta, link, base, title, iframe, frame, frameset, portal, object, embed, applet, form, animate[attributeName$=href], set[attributeName$=href]";
const ADDRESSES = new Set(["src", "href", "xlink:href", "poster", "background", "data"]);
const DROPPED = new Set(["action", "formaction", "ping", "srcset", "srcdoc", "target", "download", "autofocus", "accesskey"]);

/**
 * An environment's HTML as a document of its own in which nothing runs, loads or leads anywhere. The sandbox and the
 * policy of the frame forbid all of it anyway; this keeps them from having to.
 */
export function cleaned(html: string): Document {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const element of parsed.querySelectorAll(REMOVED)) element.remove();
  for (const element of parsed.querySelectorAll("*")) cleanAttributes(element);
  parsed.body.prepend(...parsed.head.querySelectorAll("style"));
  return parsed;
}

function cleanAttributes(element: Element): void {
  const leads = element.localName === "a" || element.localName === "area";
  for (const { name, value } of [...element.attributes]) {
    if (isDropped(name.toLowerCase(), value, leads)) element.removeAttribute(name);
  }
}

function isDropped(name: string, value: string, leads: boolean): boolean {
  if (name.startsWith("on") || DROPPED.has(name)) return true;
  if (!ADDRESSES.has(name)) return false;
  return leads || !/^\s*(?:#|data:image\/)/i.test(value);
}
