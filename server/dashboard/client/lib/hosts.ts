import { toUnicode } from 'punycode/';

/** A host as people read it: `xn--bcher-kva.example` is `bücher.example`. What cannot be read stays as it is. */
export function shownHost(host: string): string {
  if (!host.includes('xn--')) return host;
  try {
    const text = toUnicode(host);
    // Characters that hide or turn text would make it look like another one.
    return /^[\p{L}\p{N}\p{M}.:-]+$/u.test(text) ? text : host;
  } catch {
    return host;
  }
}
