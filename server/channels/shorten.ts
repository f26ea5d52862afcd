/** Bytes of an answer that are stored. */
const MAX_ANSWER = 200;

/** The first bytes of a text, without control characters. */
export function shorten(text: string): string {
  const bytes = Buffer.from(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim());
  if (bytes.length <= MAX_ANSWER) return bytes.toString();
  let end = MAX_ANSWER;
  // Not within a character.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
