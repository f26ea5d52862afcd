/** A byte range of a file, both ends included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header: a span, or `none` if the file has no such bytes. Undefined means the whole file: multiple
 * ranges, other units and malformed values are ignored, as in RFC 9110.
 */
export function wantedBytes(range: string | undefined, size: number): Span | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'none' : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'none' : { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
