import { type Connection, ConnectionRefused, putConnection } from '../catalog/connections.ts';
import type { ConnectionOption } from './provider.ts';
import { PROVIDERS, providerOf } from './registry.ts';

/** Like `putConnection`. Throws `ConnectionRefused` for a connection that cannot work. */
export async function setConnection(...given: Parameters<typeof putConnection>): Promise<void> {
  checkConnection(given[2]);
  await putConnection(...given);
}

/** Validates a connection. Throws `ConnectionRefused`. */
export function checkConnection(connection: Connection): void {
  const { endpoint, tokenEndpoint } = connection;
  checkOptions(connection.kind, (option) => connection[option.name] !== (option.default ?? null));
  providerOf(connection.kind).check?.(connection);
  for (const [option, url] of Object.entries({ '--endpoint': endpoint, '--token-endpoint': tokenEndpoint })) {
    if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new ConnectionRefused(`${option} must be an http or https address, not '${url}'.`);
    }
  }
}

/** Throws `ConnectionRefused` if an option is given that connections of a kind do not take. */
export function checkOptions(kind: string, isGiven: (option: ConnectionOption) => boolean): void {
  const all = PROVIDERS.flatMap(({ options }) => options);
  const refused = all.find((option) => isGiven(option) && !kindsWith(option).includes(kind));
  if (refused === undefined) return;
  const kinds = kindsWith(refused).join(' and ');
  const flags = all.filter((option) => kindsWith(option).join(' and ') === kinds).map((option) => option.flags);
  const names = [...new Set(flags.map((text) => text.split(' ')[0]))];
  const verb = names.length === 1 ? 'is' : 'are';
  throw new ConnectionRefused(`${names.join(' and ')} ${verb} for ${kinds} connections only.`);
}

/** The kinds of connections that take an option. */
function kindsWith({ name }: ConnectionOption): string[] {
  return PROVIDERS.filter(({ options }) => options.some((one) => one.name === name)).map(({ kind }) => kind);
}
