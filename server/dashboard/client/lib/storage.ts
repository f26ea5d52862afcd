/** Reads or writes what the browser stores for this origin; undefined where that is blocked, full or damaged. */
export function ifStored<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
