import { isObject } from "../json";
import type { Json, JsonObject } from "../types";
import { type Picture, pictureIn, pictureOf } from "./image";
import { type Pixels, pixelsIn } from "./pixels";

/** A value that is a picture: an image file, or numbers. */
export type Drawing = { kind: "picture"; picture: Picture } | { kind: "pixels"; pixels: Pixels };

/** The picture that a value is, if it is one; its name and its siblings may tell. */
export function drawingIn(name: string, value: Json, siblings?: JsonObject): Drawing | null {
  if (Array.isArray(value)) {
    const pixels = pixelsIn(name, value, siblings);
    return pixels && { kind: "pixels", pixels };
  }
  const picture =
    typeof value === "string" ? pictureIn(name, value) : isObject(value) ? pictureInObject(value) : null;
  return picture && { kind: "picture", picture };
}

function pictureInObject(value: JsonObject): Picture | null {
  return pictureOf(value.mime ?? value.mime_type ?? value.mimeType, value.base64 ?? value.data);
}
