import { signal } from '@preact/signals';

/** Loaded with the first host that needs it. */
const toUnicode = signal<((host: string) => string) | undefined>(undefined);
let isLoading = false;

/** A host as people read it: `xn--bcher-kva.example` is `bücher.example`. What cannot be read stays as it is. */
export function shownHost(host: string): string {
  if (!host.includes('xn--')) return host;
  const decode = toUnicode.value;
  if (decode === undefined) {
    void load();
    return host;
  }
  try {
    const text = decode(host);
    // Characters that hide or turn text would make it look like another one.
    return /^[\p{L}\p{N}\p{M}.:-]+$/u.test(text) ? text : host;
  } catch {
    return host;
  }
}

async function load(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  const loaded = await import('punycode/').catch(() => undefined);
  isLoading = false;
  if (loaded !== undefined) toUnicode.value = loaded.toUnicode;
}
