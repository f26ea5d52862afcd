/** Characters of an address that are logged at most. */
const MAX_LENGTH = 1000;

/** Passes of decoding; whatever is encoded more often is not logged. */
const MAX_DEPTH = 8;

/** An encoded ASCII character, its percent sign encoded any number of times: `%5F`, `%255F`, `%25255F`. */
const ENCODED = /%(?:25)*([2-7][0-9a-f])/gi;

/** The names that keys, sign-in links and sessions begin with, and what follows them in the same part of an address. */
const KEY = /(ord_(?:live|link|sess)_)[^/?#&;=]*/gi;

/** A run as long as the secret of a key: nothing else in an address of ours is. */
const SECRET = /[a-z0-9]{32,}/gi;

/**
 * An address with anything that could be a key masked, in any case and percent-encoded in any way. The time it takes is
 * bounded by `MAX_LENGTH`, for anybody can send an address.
 */
export function redactAddress(url: string): string {
  if (url.length <= MAX_LENGTH) return redact(url);
  // The last run may be the beginning of a secret, or of a percent-encoded character.
  return `${redact(url.slice(0, MAX_LENGTH)).replace(/[a-z0-9%]*$/i, '')}…`;
}

/** Any text with anything that could be a key masked. */
export function redact(text: string): string {
  const decoded = decodeAscii(text);
  if (decoded === undefined) return `(a text that is percent-encoded more than ${MAX_DEPTH} times)`;
  const masked = mask(decoded);
  return masked === decoded ? text : masked;
}

function mask(text: string): string {
  return text.replaceAll(KEY, (_, name: string) => `${name.toLowerCase()}…`).replaceAll(SECRET, '…');
}

/** Decodes until nothing is left to decode; undefined where that takes too long. */
function decodeAscii(text: string): string | undefined {
  if (!text.includes('%')) return text;
  let decoded = text;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const before = decoded;
    decoded = before.replaceAll(ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === before) return decoded;
  }
  return undefined;
}
