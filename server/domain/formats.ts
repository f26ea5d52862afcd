/** The formats of responses with their media types. All except JSON are flat rows. */
export const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

/** JSON as a response names it. */
export const JSON_TYPE = `${MEDIA_TYPES.json}; charset=utf-8`;

export type FormatName = keyof typeof MEDIA_TYPES;
export type RowFormatName = Exclude<FormatName, 'json'>;

export const FORMATS = Object.keys(MEDIA_TYPES) as FormatName[];

const BY_MEDIA_TYPE = new Map<string, FormatName>(FORMATS.map((name) => [MEDIA_TYPES[name], name]));

/** The format of a media type without parameters; undefined for others. */
export function formatOfMediaType(type: string): FormatName | undefined {
  return BY_MEDIA_TYPE.get(type);
}
