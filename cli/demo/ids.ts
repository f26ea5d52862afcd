import { createHash } from 'node:crypto';

const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A short id derived from a name: every run of the demo gives the same ids, so a second load updates the first. */
export function shortId(name: string): string {
  const digest = createHash('sha256').update(`ordinate demo ${name}`).digest();
  return Array.from(digest.subarray(0, 5), (byte) => LETTERS_AND_DIGITS[byte % LETTERS_AND_DIGITS.length]).join('');
}

/** A UUID derived from a name (RFC 9562 version 8, for custom bits). */
export function uuid(name: string): string {
  const bytes = createHash('sha256').update(`ordinate demo ${name}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
