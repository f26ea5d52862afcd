import { requestFile } from './api.ts';
import { parseCsv } from './csv.ts';
import { saveFile } from './save-file.ts';
import { type Cell, workbook } from './xlsx.ts';

/** Columns of texts, whose digits are no numbers. */
const TEXTS = /^(?:query|url|name|id|.*_id|domain|property|date|from|to|text|title|body|.*date)$/i;

/** Saves the rows of a CSV of the API as a workbook of the same name. Throws `ApiError`. */
export async function saveWorkbook(csv: string): Promise<void> {
  const { text, name } = await requestFile(csv);
  const [heading = [], ...rows] = parseCsv(text);
  const isText = heading.map((column) => TEXTS.test(column));
  const cells = rows.map((row) => row.map((text, column) => cellOf(text, isText[column] === true)));
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  saveFile(new Blob([workbook(heading, cells)], { type }), name.replace(/\.csv$/, '.xlsx'));
}

function cellOf(text: string, isText: boolean): Cell {
  if (text === '') return null;
  if (!isText && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  // In CSV a quote keeps a text from being a formula; cells of a workbook say what they are.
  return text.replace(/^'(?=[=+\-@\t\r])/, '');
}
