/** A history as a file: JSON lines, or one page that shows it without a server. */
import type { Environment } from "../types";
import type { Log } from "./log";
import { json } from "./literals";
import { DATA_TAG } from "./reading";
import { headerOf, lineOf } from "./record";

export { type Opened, openFile, readEmbedded } from "./reading";

/** What the page is made of. */
interface Parts {
  script: string;
  style: string;
  icon: string;
}

/** The history as JSON lines: a header, then an entry each. */
export function asLines(log: Log, environment: Environment): Blob {
  const lines = records(log, environment).map((line) => `${line}\n`);
  return new Blob(lines, { type: "application/jsonl" });
}

/** The history as one page that needs neither a server nor a network. */
export async function asPage(log: Log, environment: Environment): Promise<Blob> {
  return pageOf(log, environment, await partsOfThisPage());
}

/** A page of these parts that shows a history. */
export function pageOf(log: Log, environment: Environment, parts: Parts): Blob {
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join("");
  const policy =
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data: blob:; ` +
    "base-uri 'none'; form-action 'none'";
  const before = [
    "<!doctype html>",
    '<html lang="en" data-viewer>',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(environment.metadata.name)} · OpenEnv</title>`,
    DATA_TAG,
    "[",
  ];
  const after = [
    "]",
    "</script>",
    `<link rel="icon" id="openenv-icon" href="data:image/svg+xml,${encodeURIComponent(parts.icon)}">`,
    `<style id="openenv-style">${within(parts.style, "style")}</style>`,
    "</head>",
    '<body><div id="app"></div>',
    `<script id="openenv-script" nonce="${nonce}">${within(parts.script, "script")}</script>`,
    "</body>",
    "</html>",
    "",
  ];
  const data = records(log, environment).map((line) => line.replaceAll("<", "\\u003c"));
  const body = data.map((line, place) => `${line}${place < data.length - 1 ? "," : ""}\n`);
  return new Blob([`${before.join("\n")}\n`, ...body, after.join("\n")], { type: "text/html" });
}

/** Hands a file to whoever reads the page. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then, even a slow one.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A file's name that tells the environment and the time. */
export function fileName(environment: Environment, suffix: string): string {
  const name = environment.metadata.name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60) || "episode";
  const time = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
  return `${name}-${time}.${suffix}`;
}

function records(log: Log, environment: Environment): string[] {
  return [json(headerOf(environment, log.dropped)), ...Array.from(log, (entry) => json(lineOf(entry)))];
}

async function partsOfThisPage(): Promise<Parts> {
  const [script, style] = ["openenv-script", "openenv-style"].map(
    (id) => document.getElementById(id)?.textContent,
  );
  if (script && style) {
    const icon = document.querySelector<HTMLLinkElement>("#openenv-icon")?.href ?? "";
    return { script, style, icon: decodeURIComponent(icon.slice(icon.indexOf(",") + 1)) };
  }
  const [fetched, styled, icon] = await Promise.all(["app.js", "app.css", "icon.svg"].map(asset));
  return { script: fetched ?? "", style: styled ?? "", icon: icon ?? "" };
}

async function asset(name: string): Promise<string> {
  const response = await fetch(new URL(name, document.baseURI));
  if (!response.ok)
    throw new Error(`${name} of this page could not be fetched (${response.status}); reload it`);
  return response.text();
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Source that does not end the element it is in. In literals, where alone these occur, the escapes mean the same. */
function within(source: string, element: "script" | "style"): string {
  if (element === "style") return source.replace(/<(?=\/style)/gi, "\\3c ");
  return source.replace(/<(?=!--|\/script)/gi, "\\x3c");
}
