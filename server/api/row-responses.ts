import { MEDIA_TYPES, type RowFormatName } from '../domain/formats.ts';
import { ROW_FORMATS } from '../formats/formats.ts';
import { bytes, integerHeader } from './responses.ts';

/** Flat rows, with a column per property, named as in JSON. */
const ROW_CONTENT = Object.fromEntries(
  Object.entries(ROW_FORMATS).map(([name, { description, isText }]) => [
    MEDIA_TYPES[name as RowFormatName],
    isText ? { schema: { type: 'string', description } } : bytes(description),
  ]),
);

const textHeader = (description: string) => ({ type: 'string', description });
const rowHeaders = {
  'X-Total-Count': integerHeader('Not with JSON. As `paging.total` in JSON, or the number of rows.'),
  'X-Range-From': textHeader('Not with JSON. As `range.from` in JSON.'),
  'X-Range-To': textHeader('Not with JSON. As `range.to` in JSON.'),
  'X-Provisional-After': textHeader('Not with JSON. As `range.provisionalAfter` in JSON, unless it is null.'),
  'X-Comparison-From': textHeader('Not with JSON. As `range.comparison.from` in JSON, with `compare`.'),
  'X-Comparison-To': textHeader('Not with JSON. As `range.comparison.to` in JSON, with `compare`.'),
  'X-Quality': textHeader(
    'Not with JSON. As `quality` in JSON, with `quality`; without `missing` if that has more than 40 ranges. Arrow and Parquet have it in the metadata of the schema too.',
  ),
  'X-Remainder': textHeader(
    'Not with JSON. As `remainder` in JSON, of questions. Arrow and Parquet have it in the metadata of the schema too.',
  ),
  'Content-Disposition': textHeader('Not with JSON. A file name.'),
};

/** Adds the formats of flat rows to the `response` part of a route's schema. */
export function withRowFormats(given: object): object {
  const { 200: answer, ...others } = given as { 200: { headers: object; content: object } };
  const headers = { ...answer.headers, ...rowHeaders };
  return { 200: { ...answer, headers, content: { ...answer.content, ...ROW_CONTENT } }, ...others };
}
