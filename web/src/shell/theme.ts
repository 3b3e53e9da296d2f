/** Dark or light: as the system says, until somebody chooses; the choice is kept where it can be. */
import { effect, signal } from "@preact/signals";
import { stored } from "../storage";

type Theme = "dark" | "light";
const KEY = "openenv.theme";
/** Over all tabs, and over the next visit. */
const KEPT_IN = () => localStorage;

/** The one that is shown. */
export const theme = signal<Theme>(kept() ?? system());

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

/** Turns to the other theme, and keeps that. */
export function turnTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  stored((storage) => storage.setItem(KEY, theme.value), KEPT_IN);
}

function system(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function kept(): Theme | undefined {
  const value = stored((storage) => storage.getItem(KEY), KEPT_IN);
  return value === "dark" || value === "light" ? value : undefined;
}
