/** Dark or light: as the system says, until somebody chooses; the choice is kept where it can be. */
import { effect, signal } from "@preact/signals";

export type Theme = "dark" | "light";
const KEY = "openenv.theme";

export const theme = signal<Theme>(kept() ?? system());

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

/** Turns to the other theme, and keeps that. */
export function turnTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // a browser that keeps nothing for this page keeps no theme either
  }
}

function system(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function kept(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === "dark" || value === "light" ? value : undefined;
  } catch {
    return undefined;
  }
}
