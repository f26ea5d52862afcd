import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Archive, type Connection, DEFAULT_ARCHIVE } from '../server/catalog/connections.ts';
import { checkConnection } from '../server/providers/connections.ts';
import type { ConnectionOption, Provider } from '../server/providers/provider.ts';
import { ARCHIVE_OPTION, SEARCH_CONSOLE } from '../server/providers/search-console/provider.ts';

/** Options of commands for a connection. */
export interface ConnectionOptions {
  readonly credentials?: string;
  readonly apiKeyFile?: string;
  readonly endpoint?: string;
  readonly tokenEndpoint?: string;
  readonly dataset?: string;
  readonly location?: string;
  readonly archive?: Archive;
}

/** Adds the options of connections to providers; `--archive` only with `archive`. */
export function addConnectionOptions(
  command: Command,
  providers: readonly Provider[] = [SEARCH_CONSOLE],
  { archive = false } = {},
): Command {
  const options = providers.flatMap((provider) => provider.options).filter(({ name }) => archive || name !== 'archive');
  for (const same of Map.groupBy(options, ({ name }) => name).values()) {
    const help = [...new Set(same.map((option) => option.help))].join('; ');
    command.addOption(toOption({ ...same[0]!, help }));
  }
  for (const note of new Set(providers.map((provider) => provider.note))) {
    if (note !== undefined) command.addHelpText('after', `\n${note}`);
  }
  return command;
}

export function archiveOption(): Option {
  return toOption(ARCHIVE_OPTION);
}

function toOption({ flags, help, read }: ConnectionOption): Option {
  const option = new Option(flags, help);
  return read === undefined ? option : option.argParser((text) => readOption(read, text));
}

function readOption(read: (text: string) => string, text: string): string {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

/**
 * The connection to a provider. Throws if its credentials cannot work, instead of failing at the first request.
 * @param failed the message before the reason
 */
export function toConnection(provider: Provider, options: ConnectionOptions, failed: string): Connection {
  return {
    kind: provider.kind,
    credentials: credentialsPath(provider, options.credentials ?? options.apiKeyFile, failed),
    grant: null,
    endpoint: options.endpoint ?? null,
    tokenEndpoint: options.tokenEndpoint ?? null,
    dataset: options.dataset ?? null,
    location: options.location ?? null,
    archive: options.archive ?? DEFAULT_ARCHIVE,
  };
}

/** A connection to the reporting API. Throws if it cannot work, instead of failing at the first request. */
export function searchConsole(options: ConnectionOptions): Connection {
  const connection = toConnection(SEARCH_CONSOLE, options, 'There is no connection without credentials');
  checkConnection(connection);
  return connection;
}

function credentialsPath(provider: Provider, file: string | undefined, failed: string): string | null {
  if (file === undefined) return null;
  const path = resolve(file);
  try {
    provider.checkCredentials(path);
    return path;
  } catch (error) {
    throw new Error(`${failed}: ${(error as Error).message}.`, { cause: error });
  }
}
