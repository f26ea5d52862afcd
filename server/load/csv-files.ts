import { type FileRefusal, MAX_LINE, openText } from './whole-files.ts';

/** The longest accepted header, in characters. */
const MAX_HEADER = 1_000_000;
const MAX_RECORD = 2 * MAX_LINE;
const OTHER_SEPARATORS: readonly string[] = [';', '\t', '|'];

/** An error in a line of a file. */
export interface FileFailure extends FileRefusal {
  readonly line: number;
}

interface CsvRecord {
  /** First line, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** `\n`, `\r\n`, `\r`, or empty at the end of the file. */
  readonly lineEnd: string;
}

/** Reads the column names of a CSV file, unchanged, or returns why the header is invalid. */
export async function readHeader(
  path: string,
  columns: readonly string[],
): Promise<{ readonly names: readonly string[] } | { readonly failure: FileFailure }> {
  const fail = (message: string) => ({ failure: { line: 1, message } });
  const expected = `expected: ${columns.join(',')}`;
  const head = await readHead(path);
  if (head.length === 0) return fail(`the file is empty; ${expected}`);
  const isUtf16 = /^(\xff\xfe|\xfe\xff)/.test(head.toString('latin1', 0, 2));
  if (isUtf16 || head.subarray(0, head.indexOf('\n') + 1).includes(0)) {
    return fail(
      `the file is ${isUtf16 ? 'UTF-16' : 'UTF-16 or no text at all'}; save it as UTF-8. ${sentence(expected)}`,
    );
  }
  const [first] = parseRecords(head.toString('utf8'), 1);
  const names = first?.fields.map((name) => name.trim()) ?? [];
  if (head.length >= MAX_HEADER && first?.lineEnd === '') return fail(`the header is longer than 1 MB; ${expected}`);
  if (names.some((name) => name.includes('\uFFFD'))) {
    return fail(`the file is not UTF-8 (Latin-1 or Windows-1252, perhaps); save it as UTF-8. Found: ${show(names)}`);
  }
  const isKnown = (name: string): boolean => columns.includes(name.trim().toLowerCase());
  if (!names.some(isKnown)) {
    const text = names.join(',');
    const separator = OTHER_SEPARATORS.find((one) => text.split(one).filter(isKnown).length > 1);
    if (separator !== undefined) {
      const shown = separator === '\t' ? 'a tab' : `'${separator}'`;
      return fail(`fields are separated by ${shown} instead of ','. Found: ${cut(text)}; ${expected}`);
    }
  }
  const twice = names.find((name, index) => isKnown(name) && indexOfName(names, name) < index);
  if (twice !== undefined) return fail(`the column '${twice}' appears twice. Found: ${show(names)}; ${expected}`);
  return { names };
}

function indexOfName(names: readonly string[], name: string): number {
  return names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
}

/** Finds the first line whose line ending differs from the lines before it. */
export async function findMixedLineEnd(path: string): Promise<FileFailure | undefined> {
  const words: Readonly<Record<string, string>> = { '\n': 'LF', '\r\n': 'CR LF', '\r': 'CR' };
  let before: string | undefined;
  for await (const { line, lineEnd } of readRecords(path)) {
    if (lineEnd === '') continue;
    before ??= lineEnd;
    if (lineEnd !== before) {
      const message = `the line ends with ${words[lineEnd]}, the lines before it with ${words[before]}; use one line ending.`;
      return { line, message };
    }
  }
  return undefined;
}

/** Yields the records of a CSV file (RFC 4180) with their lines, for error messages. Not optimised for speed. */
export async function* readRecords(path: string, separator = ','): AsyncGenerator<CsvRecord> {
  let rest = '';
  let line = 1;
  const stream = openText(path).setEncoding('utf8');
  for await (const chunk of stream as AsyncIterable<string>) {
    const text = rest + chunk;
    let used = 0;
    for (const record of parseRecords(text, line, separator)) {
      // The last record, or its line ending, may continue in the next chunk.
      if (record.end >= text.length) break;
      used = record.end;
      line = record.nextLine;
      yield record;
    }
    rest = text.slice(used);
    // Unterminated quote: no further records can be parsed.
    if (rest.length > MAX_RECORD) return;
  }
  yield* parseRecords(rest, line, separator);
}

interface ParsedRecord extends CsvRecord {
  /** Offset of the next record. */
  readonly end: number;
  readonly nextLine: number;
}

/** A field and what ends it. */
function fieldPattern(separator: string): RegExp {
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, 'y');
}

function* parseRecords(text: string, firstLine: number, separator = ','): Generator<ParsedRecord> {
  const pattern = fieldPattern(separator);
  let line = firstLine;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const start = line;
    const fields: string[] = [];
    for (;;) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      // Unterminated quote: the rest is one field.
      const [whole, quoted, plain, ending] = match ?? [text.slice(at), undefined, text.slice(at), ''];
      fields.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
      line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
      at += whole.length;
      if (ending === separator) continue;
      yield { line: start, fields, lineEnd: ending ?? '', end: at, nextLine: line };
      break;
    }
  }
}

async function readHead(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = openText(path);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_HEADER || /[\r\n]/.test(chunk.toString('latin1'))) break;
  }
  stream.destroy();
  return Buffer.concat(chunks);
}

/** Shortens a text for a message. */
export function cut(text: string, max = 300): string {
  return text.length > max ? `${text.slice(0, max)}… (${text.length.toLocaleString('en')} characters)` : text;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function show(names: readonly string[]): string {
  return cut(names.join(','));
}
