import createDOMPurify, { type Config } from "dompurify";
import { Marked } from "marked";
import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Pieces } from "./code";
import { pictureIn } from "./image";
import "./markdown.css";
import { safeLink } from "./links";
import { isTame } from "./tame";
import { LongText } from "./text";
import { languageOf } from "./texts";

const LONGEST = 50_000;
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;
const ALLOWED: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "br",
    "hr",
    "blockquote",
    "ul",
    "ol",
    "li",
    "strong",
    "em",
    "b",
    "i",
    "del",
    "s",
    "sub",
    "sup",
    "kbd",
    "code",
    "pre",
    "a",
    "img",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
  ],
  ALLOWED_ATTR: ["href", "src", "alt", "title", "align", "start", "colspan", "rowspan", "class"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const marked = new Marked({
  gfm: true,
  renderer: { checkbox: ({ checked }) => (checked ? "☑ " : "☐ "), html: ({ text }) => quieted(text) },
});

const purify = typeof window === "undefined" ? null : createDOMPurify(window);

/** HTML without what the page's policy would complain of before the sanitiser takes it away, as it does anyway. */
function quieted(html: string): string {
  return html
    .replace(/\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi, "")
    .replace(/<style\b[\s\S]*?(?:<\/style\s*>|$)/gi, "");
}

/** Markdown, sanitised: nothing in it runs, loads, submits or leaves the page unasked. */
export function Markdown({ text }: { text: string }) {
  if (text.length > LONGEST || !isTame(text))
    return <LongText text={text} path=":markdown" label="markdown, too large to be formatted" />;
  return <Formatted text={text} />;
}

function Formatted({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.replaceChildren(fragmentOf(text));
  }, [text]);
  return <div class="view-markdown" ref={place} />;
}

function fragmentOf(text: string): Node {
  try {
    const html = marked.parse(text.replace(FRONT_MATTER, ""), { async: false });
    const fragment = purify?.sanitize(html, ALLOWED);
    return fragment ? tamed(fragment) : new Text(text);
  } catch {
    return new Text(text);
  }
}

function tamed(fragment: DocumentFragment): DocumentFragment {
  for (const image of fragment.querySelectorAll("img")) tameImage(image);
  for (const link of fragment.querySelectorAll("a")) tameLink(link);
  for (const one of fragment.querySelectorAll("[class]")) unclassed(one);
  for (const code of fragment.querySelectorAll("pre")) code.tabIndex = 0;
  for (const table of fragment.querySelectorAll("table")) tameTable(table);
  return fragment;
}

function tameLink(link: HTMLAnchorElement): void {
  const address = safeLink(link.getAttribute("href") ?? "");
  link.removeAttribute("href");
  if (address === null) return;
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
}

/** Pictures in the text itself are shown; those elsewhere become links, so that nobody learns who reads. */
function tameImage(image: HTMLImageElement): void {
  const address = image.getAttribute("src") ?? "";
  const picture = pictureIn("image", address);
  if (picture) {
    image.src = picture.src;
    return;
  }
  const said = document.createElement(safeLink(address) === null ? "span" : "a");
  said.textContent = image.alt || "image";
  if (!image.closest("a")) said.setAttribute("href", address);
  image.replaceWith(said);
}

/** A class is of no use but on code, where it names the language. */
function unclassed(element: Element): void {
  const language = languageOf(/\blanguage-([\w-]+)/.exec(element.className)?.[1] ?? "");
  element.removeAttribute("class");
  if (language && element.matches("pre > code")) colour(element, language);
}

function colour(code: Element, language: string): void {
  const text = code.textContent ?? "";
  code.textContent = "";
  render(<Pieces text={text} language={language} />, code);
}

/** Tables scroll by themselves; a heading without words is none. */
function tameTable(table: HTMLTableElement): void {
  const empty = [...table.querySelectorAll("th")].filter(
    (cell) => !cell.textContent?.trim() && !cell.querySelector("img"),
  );
  for (const cell of empty) cell.replaceWith(document.createElement("td"));
  if (!table.tHead?.querySelector("th")) table.tHead?.remove();
  const frame = document.createElement("div");
  frame.className = "view-scroll";
  frame.tabIndex = 0;
  table.replaceWith(frame);
  frame.append(table);
}
