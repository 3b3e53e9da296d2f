import { child } from "../json";
import type { Json, JsonObject } from "../types";
import { cellText, gridText } from "./lists";
import { More, usePortion } from "./more";
import "./table.css";

const ROWS = 50;
const CHIPS = 100;

/** Like objects, one a row. */
export function Table({
  columns,
  rows,
  path,
  label,
}: {
  columns: string[];
  rows: JsonObject[];
  path: string;
  label: string;
}) {
  const portion = usePortion(path, ROWS, rows.length);
  return (
    <div class="view-block">
      <div class="view-scroll" tabIndex={0} role="group" aria-label={label}>
        <table class="view-table">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, portion.shown).map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column}>{cellText(row[column])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More portion={portion} unit="rows" />
    </div>
  );
}

/** A matrix as a board; a cell that was otherwise in `previous` has a frame. */
export function Grid({
  rows,
  previous,
  label,
}: {
  rows: Json[][];
  previous: Json | undefined;
  label: string;
}) {
  return (
    <div class="view-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="view-grid">
        <tbody>
          {rows.map((row, y) => (
            <tr key={y}>
              {row.map((cell, x) => (
                <Cell key={x} value={cell} was={child(child(previous, y), x)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value, was }: { value: Json; was: Json | undefined }) {
  const changed = was !== undefined && was !== value;
  const quiet = value === 0 || value === "" || value === "." || value === null;
  return (
    <td
      class={quiet ? "view-quiet" : ""}
      data-changed={changed || undefined}
      title={changed ? `was ${String(was)}` : undefined}
    >
      {gridText(value)}
    </td>
  );
}

/** Short scalars, in a row. */
export function Chips({ items, path }: { items: Json[]; path: string }) {
  const portion = usePortion(path, CHIPS, items.length);
  return (
    <div class="view-block">
      <ul class="view-chips">
        {items.slice(0, portion.shown).map((item, index) => (
          <li key={index}>{cellText(item)}</li>
        ))}
      </ul>
      <More portion={portion} unit="items" />
    </div>
  );
}
