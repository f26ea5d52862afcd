/** A parsed property, or a text that may identify one. */
interface PropertyForm {
  /** `sc-domain`, `http` or `https`; '' if the text has none. */
  readonly scheme: string;
  readonly host: string;
  /** Ends with a slash; '' for a domain property. */
  readonly path: string;
}

export interface PropertyMatch {
  /** The only property that matches. */
  readonly property: string | undefined;
  /** Possible properties, the most similar first. */
  readonly similar: readonly string[];
}

const MAX_SIMILAR = 3;

/** `example.com` for `sc-domain:example.com` and `https://example.com/`; undefined for other texts. */
export function domainOf(property: string): string | undefined {
  return /^sc-domain:([^/\s]+)$/.exec(property)?.[1] ?? /^https?:\/\/([^/\s:]+)(:\d+)?\/(\S*\/)?$/.exec(property)?.[1];
}

/** Whether a text is an address of the domain of a property, or of a part of it. */
export function isOfDomain(text: string, property: string): boolean {
  const url = URL.parse(text);
  const domain = URL.parse(`https://${domainOf(property) ?? property}/`)?.hostname.replace(/^www\./, '');
  if (url === null || !/^https?:$/.test(url.protocol) || domain === undefined) return false;
  return url.hostname === domain || url.hostname.endsWith(`.${domain}`);
}

/**
 * Finds the property that a text identifies. An exact name identifies only that property. Any other text
 * (`example.com`, a URL without its slash, upper case) identifies the only property that matches it.
 */
export function matchProperty(text: string, readable: readonly string[]): PropertyMatch {
  if (readable.includes(text)) return { property: text, similar: [] };
  const asked = readForm(text);
  const similar = asked === undefined ? [] : mostSimilar(asked, readable);
  if (asked === undefined || write(asked) === text) return { property: undefined, similar };
  const forms = readable.flatMap((property) => {
    const form = readForm(property);
    return form?.host === asked.host ? [{ ...form, property }] : [];
  });
  const fits = ({ path }: PropertyForm): boolean => path.toLowerCase() === asked.path.toLowerCase();
  const same = forms.filter((form) => form.scheme === asked.scheme && fits(form));
  if (same.length > 0 || asked.scheme === 'sc-domain') return { property: onlyOf(same), similar };
  const others = forms.filter((form) => fits(form) || (form.scheme === 'sc-domain' && asked.path === '/'));
  return { property: onlyOf(others), similar };
}

function onlyOf(found: readonly { readonly property: string }[]): string | undefined {
  return found.length === 1 ? found[0]!.property : undefined;
}

function readForm(text: string): PropertyForm | undefined {
  const trimmed = text.trim();
  const domain = /^sc-domain:([^/\s]+)\/?$/i.exec(trimmed)?.[1];
  if (domain !== undefined) return { scheme: 'sc-domain', host: domain.toLowerCase(), path: '' };
  const [, scheme = '', host, path = '/'] = /^(?:(https?):\/\/)?([^/\s]+)(\/\S*)?$/i.exec(trimmed) ?? [];
  if (host === undefined) return undefined;
  return { scheme: scheme.toLowerCase(), host: host.toLowerCase(), path: path.endsWith('/') ? path : `${path}/` };
}

function write({ scheme, host, path }: PropertyForm): string {
  return scheme === 'sc-domain' ? `${scheme}:${host}` : `${scheme === '' ? '' : `${scheme}://`}${host}${path}`;
}

/** Properties of the same host first, then of parent domains and subdomains, then of similar names. */
function mostSimilar(asked: PropertyForm, readable: readonly string[]): string[] {
  const ranked = readable.map((property) => {
    const { host = property } = readForm(property) ?? {};
    const isRelated = host.endsWith(`.${asked.host}`) || asked.host.endsWith(`.${host}`);
    const distance = editDistance(host, asked.host);
    if (host === asked.host) return { property, rank: 0 };
    return { property, rank: isRelated ? 1 : 1 + distance };
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_SIMILAR)
    .map(({ property }) => property);
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let at = 0; at < a.length; at++) {
    const next = [at + 1];
    for (let to = 1; to <= b.length; to++) {
      const replaced = row[to - 1]! + (b[to - 1] === a[at] ? 0 : 1);
      next.push(Math.min(replaced, row[to]! + 1, next[to - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
