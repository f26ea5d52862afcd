/** A pattern that matches only this path: DuckDB interprets every path as a pattern. */
export function patternOf(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
