import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { CatalogFailure } from '../failures.ts';

/** Parameters of an address that have a meaning here. */
const PARAMETERS = ['host', 'options', 'passfile', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert'] as const;
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** How to reach a database; `name` identifies it, without its password. */
export interface Address {
  readonly name: string;
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Options of the session, such as `-c search_path=reports`. */
  readonly options: string;
  readonly ssl: ConnectionOptions | false;
  /** Read for each connection, because passwords change; undefined if none is known. */
  readonly password: () => string | undefined;
}

/** Reads `postgres://user:password@host:port/database?…`. Throws `CatalogFailure`, which never has the password. */
export function readAddress(url: string): Address {
  const { searchParams, hostname, port, username, password, pathname } = new URL(url);
  const parameters = Object.fromEntries(searchParams) as Partial<Record<(typeof PARAMETERS)[number], string>>;
  const unknown = Object.keys(parameters).find((name) => !(PARAMETERS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new CatalogFailure(
      `The address in ORDINATE_CATALOG has the parameter '${unknown}'; it may have ${PARAMETERS.join(', ')}.`,
    );
  }
  const host = parameters.host ?? (decodeURIComponent(hostname) || 'localhost');
  const server = {
    host,
    port: Number(port || 5432),
    user: decodeURIComponent(username) || (process.env['PGUSER'] ?? process.env['USER'] ?? 'ordinate'),
    database: decodeURIComponent(pathname.slice(1)),
  };
  return {
    ...server,
    name: `the database '${server.database}' on ${server.host}:${server.port} (user '${server.user}')`,
    options: parameters.options ?? '',
    ssl: readSsl(parameters),
    password: () =>
      decodeURIComponent(password) || process.env['PGPASSWORD'] || passwordFromFile(parameters.passfile, server),
  };
}

/** As in libpq, `require` encrypts, and verifies the certificate only if a root certificate is given. */
function readSsl({
  sslmode = 'disable',
  sslrootcert,
  sslcert,
  sslkey,
}: Partial<Record<(typeof PARAMETERS)[number], string>>): ConnectionOptions | false {
  if (!(SSL_MODES as readonly string[]).includes(sslmode)) {
    throw new CatalogFailure(
      `The address in ORDINATE_CATALOG has sslmode=${sslmode}; it may be ${SSL_MODES.join(', ')}.`,
    );
  }
  if (sslmode === 'disable') return false;
  return {
    ...(sslrootcert === undefined ? {} : { ca: readNamed('sslrootcert', sslrootcert) }),
    ...(sslcert === undefined ? {} : { cert: readNamed('sslcert', sslcert) }),
    ...(sslkey === undefined ? {} : { key: readNamed('sslkey', sslkey) }),
    rejectUnauthorized: sslmode !== 'require' || sslrootcert !== undefined,
    ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CatalogFailure(`The file of ${name} in ORDINATE_CATALOG cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/**
 * The password of the first matching line of a password file, `host:port:database:user:password`; all but the last may
 * be `*`. Undefined without such a line. Like libpq, ignores a file that others may read.
 */
function passwordFromFile(
  named: string | undefined,
  { host, port, database, user }: Pick<Address, 'host' | 'port' | 'database' | 'user'>,
): string | undefined {
  const given = named ?? process.env['PGPASSFILE'];
  const path = given ?? join(homedir(), '.pgpass');
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (named === undefined) return undefined;
    throw new CatalogFailure(`The password file '${path}' in ORDINATE_CATALOG does not exist.`);
  }
  if ((found.mode & 0o077) !== 0) {
    throw new CatalogFailure(`Others may read the password file '${path}', so it is not used: give it the mode 0600.`);
  }
  const wanted = [host, String(port), database, user];
  for (const line of readNamed('passfile', path).split('\n')) {
    if (line.startsWith('#')) continue;
    // A colon or backslash in a field follows a backslash.
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field]) => field!.replace(/\\(.)/g, '$1'));
    if (fields.length > 4 && wanted.every((text, index) => fields[index] === '*' || fields[index] === text)) {
      return fields[4];
    }
  }
  return undefined;
}
