/** Positions that belong together: name, text, and the conditions that have them. */
export const BANDS = [
  ['1-3', '1–3', ['position:lte:3']],
  ['4-10', '4–10', ['position:gt:3', 'position:lte:10']],
  ['11-20', '11–20', ['position:gt:10', 'position:lte:20']],
  ['21-50', '21–50', ['position:gt:20', 'position:lte:50']],
  ['51-', '51+', ['position:gt:50']],
] as const;

/** The filter of a band, or of rows that do not rank (`none`); empty for all. */
export function bandFilter(name: string): string {
  if (name === 'none') return 'impressions:eq:0';
  return BANDS.find(([band]) => band === name)?.[2].join(';') ?? '';
}
