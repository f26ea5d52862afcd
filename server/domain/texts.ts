import { invalidRequest } from './errors.ts';

/** Compares texts by their UTF-8 bytes, as all orders of the API do. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Characters that UTF-16 writes as two units come last in UTF-8, and in the middle in UTF-16. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * The address of a mailbox, without spaces around it. Only a message to it could prove more. Throws `invalid_request`, which
 * names the field `email`.
 */
export function checkEmailAddress(text: string): string {
  const email = text.trim();
  if (email.length <= 254 && /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(email)) return email;
  throw invalidRequest("'email' must be an e-mail address such as you@shop.example.");
}

/** Whether a text is a name: one line, not blank, of at most `most` characters. */
export function isName(text: string, most: number): boolean {
  return text.trim() !== '' && text.length <= most && !/\p{Cc}|\p{Cs}/u.test(text);
}
