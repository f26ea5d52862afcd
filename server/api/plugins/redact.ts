/** Maximum number of logged characters of a URL. */
const MAX_LENGTH = 1000;

/** Maximum decoding passes; text that is encoded more often is not logged. */
const MAX_DEPTH = 8;

/** An encoded ASCII character, its percent sign encoded any number of times: `%5F`, `%255F`, `%25255F`. */
const ENCODED = /%(?:25)*([2-7][0-9a-f])/gi;

/** Keys and tokens: their prefixes, with the rest of the same part of a URL. */
const KEY = /(ord_(?:live|feed|link|sess|stop|share)_)[^/?#&;=]*/gi;

/** What Google sends back to the dashboard, in the address; `state[]=` may be it, too. */
const ANSWER = /((?:^|[?&;])(?:code|state)[^=&;#\s]{0,40}=)[^&;#\s]*/gi;

/** A word as long as the secret of a key; nothing else in our URLs is that long. */
const SECRET = /[a-z0-9]{32,}/gi;

/**
 * Masks possible keys in a URL, in any case and with any percent-encoding. The input is limited to `MAX_LENGTH`, because
 * anyone can send a URL.
 */
export function redactAddress(url: string): string {
  if (url.length <= MAX_LENGTH) return redact(url);
  // The last word may be the beginning of a secret, or of a percent-encoded character.
  return `${redact(url.slice(0, MAX_LENGTH)).replace(/[a-z0-9%]*$/i, '')}…`;
}

/** Masks possible keys in a text. */
export function redact(text: string): string {
  const decoded = decodeAscii(text);
  if (decoded === undefined) return `(a text that is percent-encoded more than ${MAX_DEPTH} times)`;
  const masked = mask(decoded);
  return masked === decoded ? text : masked;
}

function mask(text: string): string {
  return text
    .replaceAll(KEY, (_, prefix: string) => `${prefix.toLowerCase()}…`)
    .replaceAll(ANSWER, '$1…')
    .replaceAll(SECRET, '…');
}

/** Decodes repeatedly; undefined if `MAX_DEPTH` is exceeded. */
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
