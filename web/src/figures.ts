/** Numbers as people read them. */

const FIGURES = 4;

/** A reward, with its sign. */
export function signed(reward: number | null | undefined): string {
  if (reward === null || reward === undefined) return "–";
  return reward > 0 ? `+${figure(reward)}` : figure(reward);
}

/** A number in few figures. */
export function figure(value: number, figures = FIGURES): string {
  const short = Number.isInteger(value) ? value : Number(value.toPrecision(figures));
  return String(short).replace(/^-/, "−");
}

/** How long something took. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${figure(milliseconds / 1000)} s`;
  return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${milliseconds.toFixed(1)} ms`;
}

/** A count with its noun. */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${thousands(count)} ${count === 1 ? one : more}`;
}

/** A whole number, its thousands apart. */
export function thousands(count: number): string {
  return count.toLocaleString("en");
}
