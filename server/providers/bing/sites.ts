import { domainOf } from '../../domain/properties.ts';
import { ProviderFailure } from '../failures.ts';

/**
 * The verified site that a property is: the same address, else the only one of its domain, with or without `www.`, unless the
 * property is a part of it. Throws `ProviderFailure` if there is none or several.
 */
export function siteOf(property: string, verified: readonly string[]): string {
  if (verified.includes(property)) return property;
  if ((URL.parse(property)?.pathname ?? '/').length > 1 && !property.startsWith('sc-domain:')) {
    const why = `the key has no verified site ${property}, and the numbers of its domain would be those of a larger site`;
    throw new ProviderFailure('access-lost', why, { step: 'user' });
  }
  const domain = bare(domainOf(property) ?? property);
  const same = verified.filter((site) => {
    const url = URL.parse(site);
    return url !== null && url.pathname === '/' && bare(url.host) === domain;
  });
  // A site may be verified with both protocols.
  const secure = same.filter((site) => site.startsWith('https:'));
  const found = secure.length > 0 ? secure : same;
  if (found.length === 1) return found[0]!;
  const why =
    found.length === 0
      ? `the key has no verified site of ${domain}`
      : `the key has several verified sites of ${domain}: ${found.join(' and ')}`;
  throw new ProviderFailure('access-lost', why, { step: found.length === 0 ? 'user' : 'property' });
}

function bare(host: string): string {
  return host.toLowerCase().replace(/^www\./, '');
}
