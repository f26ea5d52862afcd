import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ARCHIVES, type Archive, type Connection, checkConnection } from '../server/catalog/connections.ts';
import { readCredentials } from '../server/providers/credentials.ts';

/** Options of commands for a connection. */
export interface ConnectionOptions {
  readonly credentials?: string;
  readonly endpoint?: string;
  readonly tokenEndpoint?: string;
  readonly archive?: Archive;
}

/** Adds the options for the credentials and addresses of a provider. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--credentials <file>', "one of Google's JSON files (service_account or authorized_user)")
    .option('--endpoint <url>', "address of the API, instead of Google's")
    .option('--token-endpoint <url>', "address of the token endpoint, instead of Google's")
    .addHelpText('after', "\nWithout --credentials the environment's default credentials are used.");
}

export function archiveOption(): Option {
  const what = 'which of all queries and pages are stored by day: queries,pages (default), queries, pages or none';
  return new Option('--archive <tables>', what).argParser(readArchive);
}

function readArchive(text: string): Archive {
  const named = text.split(',').map((name) => name.trim());
  const found = ARCHIVES.find((archive) => archive === named.toSorted((a, b) => b.localeCompare(a)).join(','));
  if (found === undefined) throw new InvalidArgumentError(`It must be one of: ${ARCHIVES.join('; ')}.`);
  return found;
}

/** A connection to the reporting API. Throws if it cannot work, instead of failing at the first request. */
export function searchConsole({ credentials, endpoint, tokenEndpoint, archive }: ConnectionOptions): Connection {
  const connection: Connection = {
    kind: 'search-console',
    credentials: usable(credentials),
    endpoint: endpoint ?? null,
    tokenEndpoint: tokenEndpoint ?? null,
    dataset: null,
    location: null,
    archive: archive ?? 'queries,pages',
  };
  checkConnection(connection);
  return connection;
}

function usable(credentials: string | undefined): string | null {
  try {
    return credentialsPath(credentials);
  } catch (error) {
    throw new Error(`There is no connection without credentials: ${(error as Error).message}.`, { cause: error });
  }
}

/** The absolute path of a readable credentials file, or null if none is given. */
export function credentialsPath(file: string | undefined): string | null {
  if (file === undefined) return null;
  const path = resolve(file);
  readCredentials(path);
  return path;
}
