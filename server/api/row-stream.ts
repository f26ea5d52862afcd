import type { RowsAnswer, RowsHead } from '../formats/rows.ts';
import type { FormatName } from '../reports/parameters.ts';
import type { Context } from './routes/context.ts';
import type { StreamedAnswer } from './send-stream.ts';

/** Flat rows in the requested format, with the metadata of the JSON response as headers. */
export function rowStream(
  { rowFormats }: Pick<Context, 'rowFormats'>,
  { format, bom }: { readonly format: FormatName; readonly bom: boolean },
  answer: RowsAnswer,
  etag?: string,
): StreamedAnswer {
  if (format === 'json') throw new Error('JSON is not a format for flat rows');
  const { contentType, write } = rowFormats[format];
  const { quality } = answer.head;
  const json = quality && asciiJson(quality);
  const headers = {
    'content-type': contentType,
    ...headersOf(answer.head, format),
    ...(json ? { 'x-quality': json } : {}),
    ...(etag ? { etag } : {}),
  };
  return { headers, body: write(answer, { bom, quality: json }) };
}

function headersOf({ name, total, range }: RowsHead, format: FormatName): Record<string, string> {
  const days = range === undefined ? '' : `-${range.from}-${range.to}`;
  const file = `${name}${days}.${format}`.replaceAll(/[^\w.-]+/g, '-');
  return {
    'content-disposition': `attachment; filename="${file}"`,
    'x-total-count': String(total),
    ...(range === undefined ? {} : { 'x-range-from': range.from, 'x-range-to': range.to }),
    ...(range?.provisionalAfter ? { 'x-provisional-after': range.provisionalAfter } : {}),
    ...(range?.comparison
      ? { 'x-comparison-from': range.comparison.from, 'x-comparison-to': range.comparison.to }
      : {}),
  };
}

/** JSON that a header can hold. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
