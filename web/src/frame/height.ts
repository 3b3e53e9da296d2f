import { bounded } from "./messages";

const MOST_TURNS = 12;

/**
 * The heights of one HTML. At one width it only grows, and where two widths take turns (as a page's scroll bar comes
 * and goes) they end at the greater height: so no style that depends on the frame's own size makes it swing.
 */
export class Heights {
  private width = -1;
  private before = -1;
  private turns = 0;
  private height = 0;
  private greatest = 0;
  private told = -1;

  /** The height to tell the page of, null if it is the one that it was told. */
  next(width: number, measured: number): number | null {
    if (width !== this.width) this.turn(width);
    this.height = Math.max(this.height, bounded(measured));
    this.greatest = Math.max(this.greatest, this.height);
    if (this.height === this.told) return null;
    this.told = this.height;
    return this.height;
  }

  private turn(width: number): void {
    this.turns = width === this.before ? this.turns + 1 : 0;
    this.before = this.width;
    this.width = width;
    if (this.turns === 0) this.greatest = this.height;
    this.height = this.turns > MOST_TURNS ? this.greatest : 0;
  }
}

/** The height that a body needs. */
export function heightOf(body: HTMLElement): number {
  const { marginTop, marginBottom } = getComputedStyle(body);
  const content = Math.max(body.scrollHeight, body.getBoundingClientRect().height);
  return content + (parseFloat(marginTop) || 0) + (parseFloat(marginBottom) || 0);
}
