import { bounded } from "./messages";

/**
 * The heights of one HTML by the frame's width. At one width it only grows, and a width that comes back gets the
 * greatest of all: so no style that depends on the frame's own size makes it swing.
 */
export class Heights {
  private readonly byWidth = new Map<number, number>();
  private width = -1;
  private told = -1;

  /** The height to tell the page of, null if it is the one that it was told. */
  next(width: number, measured: number): number | null {
    const returned = width !== this.width && this.byWidth.has(width);
    const before = returned ? Math.max(...this.byWidth.values()) : (this.byWidth.get(width) ?? 0);
    const height = Math.max(before, bounded(measured));
    this.byWidth.set(width, height);
    this.width = width;
    if (height === this.told) return null;
    this.told = height;
    return height;
  }
}
