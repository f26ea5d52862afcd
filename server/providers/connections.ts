import { type Connection, ConnectionRefused, putConnection } from '../catalog/connections.ts';
import type { ConnectionField, ConnectionOption } from './provider.ts';
import { PROVIDERS, providerOf } from './registry.ts';
import { SEARCH_CONSOLE } from './search-console/provider.ts';

/** Like `putConnection`. Throws `ConnectionRefused` for a connection that cannot work. */
export async function setConnection(...given: Parameters<typeof putConnection>): Promise<void> {
  checkConnection(given[2]);
  await putConnection(...given);
}

/** Whether the sync reads a project with connections of these kinds: the reporting API leads, others are read on its way. */
export function isSynced(kinds: readonly string[]): boolean {
  return kinds.includes(SEARCH_CONSOLE.kind);
}

/** Validates a connection. Throws `ConnectionRefused`. */
export function checkConnection(connection: Connection): void {
  const { endpoint, tokenEndpoint } = connection;
  checkOptions(connection.kind, (option) => connection[fieldOf(option)] !== (option.default ?? null), fieldOf);
  providerOf(connection.kind).check?.(connection);
  for (const [option, url] of Object.entries({ '--endpoint': endpoint, '--token-endpoint': tokenEndpoint })) {
    if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new ConnectionRefused(`${option} must be an http or https address, not '${url}'.`);
    }
  }
}

/** The field of the connection for the value of an option. */
function fieldOf({ name, field }: ConnectionOption): ConnectionField {
  return field ?? (name as ConnectionField);
}

/**
 * Throws `ConnectionRefused` if an option is given that connections of a kind do not take.
 * @param nameOf what makes options of several kinds the same
 */
export function checkOptions(
  kind: string,
  isGiven: (option: ConnectionOption) => boolean,
  nameOf: (option: ConnectionOption) => string = ({ name }) => name,
): void {
  const kindsWith = (option: ConnectionOption): string[] =>
    PROVIDERS.filter(({ options }) => options.some((one) => nameOf(one) === nameOf(option))).map((each) => each.kind);
  const all = PROVIDERS.flatMap(({ options }) => options);
  const refused = all.find((option) => isGiven(option) && !kindsWith(option).includes(kind));
  if (refused === undefined) return;
  const kinds = kindsWith(refused).join(' and ');
  const flags = all.filter((option) => kindsWith(option).join(' and ') === kinds).map((option) => option.flags);
  const names = [...new Set(flags.map((text) => text.split(' ')[0]))];
  const verb = names.length === 1 ? 'is' : 'are';
  throw new ConnectionRefused(`${names.join(' and ')} ${verb} for ${kinds} connections only.`);
}
