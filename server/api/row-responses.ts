import { bytes, integerHeader } from './responses.ts';

const text = (description: string) => ({ schema: { type: 'string', description } });

/** Flat rows, with a column per property, named as in JSON. */
const ROW_CONTENT = {
  'text/csv': text(
    'RFC 4180 with a header line. Texts that a spreadsheet would execute are prefixed with an apostrophe.',
  ),
  'application/x-ndjson': text('A JSON object per row.'),
  'application/vnd.apache.arrow.stream': bytes('With exact types, and `sum_position`.'),
  'application/vnd.apache.parquet': bytes('With exact types, and `sum_position`.'),
};

const textHeader = (description: string) => ({ type: 'string', description });
const rowHeaders = {
  'X-Total-Count': integerHeader('Not with JSON. As `paging.total` in JSON, or the number of rows.'),
  'X-Range-From': textHeader('Not with JSON. As `range.from` in JSON.'),
  'X-Range-To': textHeader('Not with JSON. As `range.to` in JSON.'),
  'X-Provisional-After': textHeader('Not with JSON. As `range.provisionalAfter` in JSON, unless it is null.'),
  'X-Comparison-From': textHeader('Not with JSON. As `range.comparison.from` in JSON, with `compare`.'),
  'X-Comparison-To': textHeader('Not with JSON. As `range.comparison.to` in JSON, with `compare`.'),
  'X-Quality': textHeader(
    'Not with JSON. As `quality` in JSON, with `quality`. Arrow and Parquet have it in the metadata of the schema too.',
  ),
  'Content-Disposition': textHeader('Not with JSON. A file name.'),
};

/** Adds the formats of flat rows to the `response` part of a route's schema. */
export function withRowFormats(given: object): object {
  const { 200: answer, ...others } = given as { 200: { headers: object; content: object } };
  const headers = { ...answer.headers, ...rowHeaders };
  return { 200: { ...answer, headers, content: { ...answer.content, ...ROW_CONTENT } }, ...others };
}
