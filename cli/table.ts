import stringWidth from 'string-width';

type Cell = string | number | boolean | null | undefined;
type Row = Readonly<Record<string, Cell>>;

/**
 * Formats rows as aligned columns, two spaces apart, with headings from the property names. Numbers are right-aligned;
 * `-` means no value, and columns without any value are omitted.
 */
export function formatTable(rows: readonly object[]): string {
  const records = rows as readonly Row[];
  const names = [...new Set(records.flatMap((row) => Object.keys(row)))];
  const withValues = names.filter((name) => records.some((row) => formatCell(row[name]) !== '-'));
  const columns = withValues.map((name) => {
    const cells = [formatHeading(name), ...records.map((row) => formatCell(row[name]))];
    const width = cells.reduce((widest, cell) => Math.max(widest, stringWidth(cell)), 0);
    const isNumeric = records.every((row) => typeof (row[name] ?? 0) === 'number');
    return cells.map((cell) => {
      const space = ' '.repeat(width - stringWidth(cell));
      return isNumeric ? space + cell : cell + space;
    });
  });
  const lines = ['', ...records].map((_, line) =>
    columns
      .map((cells) => cells[line])
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

/** `keywordHistoryDays`: KEYWORD HISTORY DAYS. */
function formatHeading(name: string): string {
  return name.replaceAll(/(?=[A-Z])/g, ' ').toUpperCase();
}

function formatCell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // Names come from loaded data: they must not move the cursor, start lines or change the text direction.
  return String(value).replaceAll(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
