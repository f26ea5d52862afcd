/** Bytes of a file, both ends included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * What `Range` asks for of a file: a span, or `none` where the file has no such bytes. Undefined stands for all of it:
 * other units, several ranges and malformed ones are ignored, as RFC 9110 has it.
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
