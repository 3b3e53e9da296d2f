import type { Json } from "../types";

/** A picture that the browser may show: its address, and its size where the file says it early. */
export interface Picture {
  src: string;
  mime: string;
  width?: number;
  height?: number;
}

const NAMES =
  /(image|img|screen|screenshot|frame|rgb|png|jpe?g|gif|webp|picture|photo|figure|render|camera|pixels)/i;
const DATA = /^data:(image\/(?:png|jpeg|gif|webp));base64,/;
const LONGEST = 20_000_000;
const MOST_PIXELS = 64_000_000;
const PEEK = 64;

/** Whether a field's name says that it holds a picture. */
export function namesPicture(name: string): boolean {
  return NAMES.test(name);
}

/**
 * The picture in a text: a data: URL, or base64 that begins as an image file does. A JPEG's or a GIF's
 * beginning is so short that only a field of a fitting name is believed.
 */
export function pictureIn(name: string, text: string): Picture | null {
  if (text.length < 24 || text.length > LONGEST) return null;
  const prefix = DATA.exec(text);
  const base64 = normalized(prefix ? text.slice(prefix[0].length) : text);
  if (base64 === null) return null;
  const head = decoded(base64.slice(0, PEEK));
  const mime = mimeOf(head);
  if (mime === null || !(prefix || mime === "image/png" || namesPicture(name))) return null;
  const size = sizeOf(mime, head);
  if (size && size.width * size.height > MOST_PIXELS) return null;
  return { src: `data:${mime};base64,${base64}`, mime, ...size };
}

/** The picture in an object of a media type and base64, as MCP and artefacts have them. */
export function pictureOf(mime: Json | undefined, base64: Json | undefined): Picture | null {
  if (typeof base64 !== "string" || typeof mime !== "string" || !mime.startsWith("image/")) return null;
  return pictureIn("image", base64);
}

function normalized(text: string): string | null {
  const base64 = text
    .replace(/[\s=]+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]+$/.test(base64)) return null;
  return base64 + "=".repeat((4 - (base64.length % 4)) % 4);
}

function decoded(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function mimeOf(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head.subarray(0, 12));
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  return text.startsWith("RIFF") && text.slice(8) === "WEBP" ? "image/webp" : null;
}

function sizeOf(mime: string, head: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(head.buffer);
  if (mime === "image/png" && head.length >= 24)
    return { width: view.getUint32(16), height: view.getUint32(20) };
  if (mime === "image/gif") return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  return null;
}
