import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address of a resolved host. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name, in the order of the system. Rejects for names that cannot be resolved. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** A channel must not send to an address; the message says why, without the address beyond its host. */
export class AddressRefused extends Error {}

/**
 * Addresses that are public by their number and lead to services inside of a cloud, which trust who can reach them: Azure's
 * host, IBM's services, and Google's APIs as private networks see them.
 */
const INSIDE_CLOUDS = [
  ...['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14', '199.36.153.4/30', '199.36.153.8/30'],
  ...['2600:2d00:2:1000::/56', '2600:2d00:2:2000::/56'],
].map((text) => ipaddr.parseCIDR(text));

const NAMES = /(^|\.)(localhost|metadata\.google\.internal)$/;

const resolving = new Map<string, ReturnType<Resolve>>();

/** One query for each name at a time: one that hangs holds a thread that others need too. */
const resolveBySystem: Resolve = (hostname) => {
  const known = resolving.get(hostname);
  if (known !== undefined) return known;
  const query = lookup(hostname, { all: true }).finally(() => resolving.delete(hostname));
  resolving.set(hostname, query);
  return query;
};

/**
 * An address of the web that channels may have: https, no user or password, any port; with `loopback` also http to this
 * machine. Throws `AddressRefused`. Does not resolve names.
 */
export function parseAddress(text: string, { loopback }: { loopback: boolean }): URL {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new AddressRefused('must be an address such as https://hooks.example.com/path');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new AddressRefused('must not contain a user or password');
  const host = hostOf(url);
  const isThisMachine = loopback && (isIP(host) === 0 ? host === 'localhost' : isLoopback(host));
  if (url.protocol !== 'https:' && !isThisMachine) throw new AddressRefused('must begin with https://');
  if (isThisMachine) return url;
  if (NAMES.test(host)) throw new AddressRefused(`must not name '${host}'`);
  if (isIP(host) !== 0 && !isPublic(host)) throw new AddressRefused(`must not be '${host}', which is not public`);
  return url;
}

/**
 * The addresses of the host of an address, all of them checked: to be used in place of the name, so that it cannot be
 * resolved to others. Throws `AddressRefused` if one must not be connected to; rejects if the name cannot be resolved.
 */
export async function resolveAddress(
  url: URL,
  { loopback, resolve = resolveBySystem }: { loopback: boolean; resolve?: Resolve },
): Promise<readonly ResolvedAddress[]> {
  const host = hostOf(url);
  const family = isIP(host);
  const found = family === 0 ? await resolve(host) : [{ address: host, family }];
  for (const { address } of found) {
    const isAllowed = (url.protocol === 'https:' && isPublic(address)) || (loopback && isLoopback(address));
    if (!isAllowed) throw new AddressRefused(`must not lead to '${address}', which is not public`);
  }
  return found;
}

/** The host without brackets and without the dot that ends a full name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
}

function isLoopback(text: string): boolean {
  const address = ipaddr.parse(text);
  return address.range() === 'loopback';
}

/** Whether an address is public unicast, also within the forms in which IPv6 writes those of IPv4. */
function isPublic(text: string): boolean {
  const address = ipaddr.parse(text);
  const isInsideCloud = INSIDE_CLOUDS.some(
    (range) => address.kind() === range[0].kind() && (address as ipaddr.IPv4).match(range as [ipaddr.IPv4, number]),
  );
  if (isInsideCloud) return false;
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  // Global unicast; what is outside of it has special uses.
  if (address.match(ipaddr.IPv6.parse('2000::'), 3)) return address.range() === 'unicast';
  // NAT64 gives hosts of IPv4 such addresses where a network has IPv6 only.
  const isNat64 = address.match(ipaddr.IPv6.parse('64:ff9b::'), 96);
  return isNat64 && isPublic(address.toByteArray().slice(-4).join('.'));
}
