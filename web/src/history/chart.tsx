import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { counted, figure } from "../figures";
import type { Entry } from "../types";
import { pointsOf, summaryOf } from "./points";

const HEIGHT = 132;
/** Steps from which on there is a course to see. */
const FEWEST = 2;

interface Props {
  entries: readonly Entry[];
  onSelect: (entry: Entry) => void;
}

/** The cumulative reward over the entries, drawn once it is seen; a click selects the nearest entry. */
export function RewardChart({ entries, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ entries, onSelect });
  latest.current = { entries, onSelect };
  const summary = summaryOf(entries);
  const isTold = summary.steps >= FEWEST;
  const isDrawn = useSeen(box) && isTold;
  useEffect(() => {
    if (!isDrawn || !box.current) return;
    const element = box.current;
    const chart = new uPlot(optionsFor(element), [[], []], element);
    chart.over.addEventListener("click", (event) =>
      select(chart.posToIdx(event.offsetX), chart, latest.current),
    );
    const stop = followLooks(element, chart);
    plot.current = chart;
    return () => {
      stop();
      chart.destroy();
      plot.current = null;
    };
  }, [isDrawn]);
  useEffect(() => {
    const { x, y } = pointsOf(entries);
    if (isDrawn) plot.current?.setData([x, y]);
  }, [entries, isDrawn]);
  return (
    <figure class="history-chart">
      <figcaption>{told(summary)}</figcaption>
      <div ref={box} class="history-plot" aria-hidden="true">
        {!isTold && <p class="history-sparse">The line is drawn from the second step on.</p>}
      </div>
    </figure>
  );
}

function told({ episodes, steps, errors, total }: ReturnType<typeof summaryOf>): string {
  const failures = errors > 0 ? `, ${counted(errors, "error")}` : "";
  const played = `${counted(steps, "step")} in ${counted(episodes, "episode")}${failures}`;
  return `Cumulative reward: ${played}; now ${figure(total)}`;
}

function select(place: number, chart: uPlot, { entries, onSelect }: Props): void {
  const entry = entries.find((one) => one.index === Math.round(chart.data[0][place] ?? -1));
  if (entry) onSelect(entry);
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const colour = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--border"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, min, max) => wide(min, max, 0) },
      y: { range: (_, min, max) => wide(min, max, 0.1) },
    },
    cursor: { y: false, drag: { x: false, y: false } },
    axes: [
      { ...axis, size: 24, space: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] },
      { ...axis, size: 48, space: 30 },
    ],
    series: [
      {},
      {
        stroke: colour("--accent"),
        width: 2,
        spanGaps: false,
        points: { size: 5, fill: colour("--accent") },
      },
    ],
  };
}

/** A range that is one even where all points are alike. */
function wide(min: number | null, max: number | null, margin: number): uPlot.Range.MinMax {
  if (min === null || max === null || min === max) return [(min ?? 0) - 1, (max ?? 0) + 1];
  const more = (max - min) * margin;
  return [min - more, max + more];
}

/** Keeps a chart as wide as its box, and in the colours of the theme. */
function followLooks(element: HTMLElement, chart: uPlot): () => void {
  const sizes = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
  sizes.observe(element);
  const themes = new MutationObserver(() => chart.redraw(false, true));
  themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    sizes.disconnect();
    themes.disconnect();
  };
}

function useSeen(element: { current: HTMLElement | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((boxes) => setSeen(boxes.some((box) => box.isIntersecting)));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isSeen;
}
