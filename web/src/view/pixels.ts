import type { Json, JsonObject } from "../types";
import { namesPicture } from "./image";

/** An array of numbers that is a picture: rows of `width` pixels of 1, 3 or 4 channels each. */
export interface Pixels {
  width: number;
  height: number;
  channels: 1 | 3 | 4;
  /** What a value is multiplied with to be 0-255. */
  scale: 1 | 255;
  /** Nested by row and pixel, or all in a row. */
  values: Json[];
}

type Shape = Pick<Pixels, "width" | "height" | "channels">;

const MOST_VALUES = 4_000_000;
const SMALLEST = { told: 2, coloured: 8, grey: 24 };

/** The picture in an array: H x W x 3, 4 or 1, H x W, or a flat one whose shape a sibling tells. */
export function pixelsIn(name: string, value: Json[], siblings?: JsonObject): Pixels | null {
  const told = toldShape(siblings?.[`${name}_shape`]);
  const flat = told !== null && typeof value[0] === "number";
  const shape = flat ? told : nestedShape(value);
  if (shape === null || !isLarge(shape, flat || namesPicture(name))) return null;
  const count = shape.width * shape.height * shape.channels;
  if (count > MOST_VALUES || (flat && value.length !== count)) return null;
  const range = rangeOf(value, flat ? [] : dimensions(value, shape));
  if (range === null) return null;
  if (range.whole ? range.high > 255 : range.high > 1) return null;
  return { ...shape, scale: range.high <= 1 ? 255 : 1, values: value };
}

/** The values as the bytes of an image: red, green, blue and opacity of each pixel. */
export function painted(pixels: Pixels): Uint8ClampedArray<ArrayBuffer> {
  const { width, height, channels, scale } = pixels;
  const bytes = new Uint8ClampedArray(width * height * 4);
  const flat = pixels.values.flat(2) as number[];
  for (let pixel = 0; pixel < width * height; pixel++) {
    const from = pixel * channels;
    const to = pixel * 4;
    for (let band = 0; band < 3; band++)
      bytes[to + band] = (flat[from + (channels === 1 ? 0 : band)] ?? 0) * scale;
    bytes[to + 3] = channels === 4 ? (flat[from + 3] ?? 0) * scale : 255;
  }
  return bytes;
}

function toldShape(value: Json | undefined): Shape | null {
  if (!Array.isArray(value)) return null;
  return asShape(value);
}

function nestedShape(value: Json[]): Shape | null {
  const sizes: number[] = [];
  for (let inner: Json | undefined = value; Array.isArray(inner) && sizes.length < 4; inner = inner[0])
    sizes.push(inner.length);
  return asShape(sizes);
}

function asShape(sizes: Json[]): Shape | null {
  const [height, width, channels = 1] = sizes;
  if (sizes.length < 2 || sizes.length > 3) return null;
  if (!isSize(height) || !isSize(width)) return null;
  return channels === 1 || channels === 3 || channels === 4 ? { width, height, channels } : null;
}

function isSize(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isLarge({ width, height, channels }: Shape, told: boolean): boolean {
  const least = told ? SMALLEST.told : channels === 1 ? SMALLEST.grey : SMALLEST.coloured;
  return Math.min(width, height) >= least;
}

function dimensions(value: Json[], { width, channels }: Shape): number[] {
  const row = value[0] as Json[];
  return Array.isArray(row[0]) ? [width, channels] : [width];
}

interface Range {
  high: number;
  whole: boolean;
}

/** The greatest number, and whether all are whole; null if not all are numbers >= 0 in lists of these sizes. */
function rangeOf(value: Json[], inner: number[]): Range | null {
  const range: Range = { high: 0, whole: true };
  return spans(value, inner, range) ? range : null;
}

function spans(value: Json[], inner: number[], range: Range): boolean {
  const [size, ...rest] = inner;
  if (size !== undefined) {
    return value.every((row) => Array.isArray(row) && row.length === size && spans(row, rest, range));
  }
  for (const item of value) {
    if (typeof item !== "number" || !(item >= 0)) return false;
    if (item > range.high) range.high = item;
    if (!Number.isInteger(item)) range.whole = false;
  }
  return true;
}
