/** What a browser keeps for the page, where it keeps anything. */

/** Uses the tab's storage, or another one; `null` where the browser forbids it, or it is full. */
export function stored<T>(use: (storage: Storage) => T, which = () => sessionStorage): T | null {
  try {
    return use(which());
  } catch {
    return null;
  }
}
