import type { ResourceFailure } from '../../domain/failures.ts';
import { CatalogFailure } from '../failures.ts';
import type { Address } from './address.ts';

/** Codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html) and Node: message, remedy. */
const REASONS: Readonly<Record<string, readonly [ResourceFailure | undefined, string, string]>> = {
  // Raised by `database.stop_changes`.
  OR001: [
    'read-only',
    'takes no more changes, which a copy would not have; it is still read',
    "Set ORDINATE_CATALOG and ORDINATE_DATA to the place of the copy. To stay with the database instead, run 'drop schema catalog_was_copied cascade' in it and drop the copy.",
  ],
  '28P01': [undefined, 'refused the password', 'Check the user and the password.'],
  '28000': [undefined, 'refused the user', 'Check the user, and pg_hba.conf of the server.'],
  '3D000': [undefined, 'does not exist', 'Create it, or name another one in ORDINATE_CATALOG.'],
  '42501': [undefined, 'does not give this user the rights that are needed', 'Let the user create and change tables.'],
  '25006': ['read-only', 'is read-only', 'Name the primary server in ORDINATE_CATALOG, not a standby.'],
  '40001': ['busy', 'ended a transaction that others were in the way of', 'Try again.'],
  '40P01': ['busy', 'ended a transaction that waited for another one, which waited for it', 'Try again.'],
  '53100': ['disk-full', 'cannot grow because the disk of its server is full', 'Free some space there and try again.'],
  '53200': ['out-of-memory', 'has no memory left', 'Look at the log of its server.'],
  '53300': [
    'database-unreachable',
    'accepts no more connections',
    'Raise max_connections of its server or the limit of the user, or lower ORDINATE_CATALOG_CONNECTIONS.',
  ],
  '55P03': ['busy', 'is locked by another process', 'Wait until it has ended, and try again.'],
  '57014': ['busy', 'took too long for a statement', 'Look at what else runs on its server, and try again.'],
  '57P01': ['database-unreachable', 'ended the connection', 'It is shutting down, or somebody ended the connection.'],
  '57P02': ['database-unreachable', 'ended the connection after a crash', 'It recovers by itself.'],
  '57P03': ['database-unreachable', 'is starting or stopping', 'Wait until it has started.'],
  '57P05': ['database-unreachable', 'ended an idle connection', 'Try again.'],
  '25P03': ['busy', 'ended a transaction that was idle for too long', 'Try again.'],
  '58030': ['disk-error', 'cannot be read or written because the disk of its server is failing', 'Check that disk.'],
  XX001: [undefined, 'is corrupt', 'Restore it from a backup.'],
  XX002: [undefined, 'has a corrupt index', 'Rebuild it with REINDEX, or restore the database from a backup.'],
};

/** Codes of Node for a server that cannot be reached. */
const UNREACHABLE = /^(?:ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|ENOENT|08|ERR_TLS|ERR_SSL)/;
/** Messages of the driver, which have no code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded|timeout expired|Query read timeout|Client (?:has encountered|was closed)|The server does not support SSL)/;

/** Adds the name of the database and a remedy to a failure of PostgreSQL or its driver. Other errors are returned unchanged. */
export function namePostgresFailure(error: unknown, { name }: Pick<Address, 'name'>): unknown {
  if (error instanceof CatalogFailure || !(error instanceof Error)) return error;
  const { code = '', message } = error as { code?: string; message: string };
  const reason = REASONS[code];
  if (reason !== undefined) {
    const [resource, what, remedy] = reason;
    return failure(`The catalog, ${name}, ${what} (${message}). ${remedy}`, error, resource);
  }
  if (message.startsWith('SASL')) {
    const remedy = 'Put its password into the address, PGPASSWORD or a password file.';
    return failure(
      `The catalog, ${name}, was given no password, or a wrong one (${message}). ${remedy}`,
      error,
      undefined,
    );
  }
  if (!UNREACHABLE.test(code) && !LOST.test(message)) return error;
  return failure(
    `The catalog, ${name}, cannot be reached (${message || code}). Check that its server runs and can be reached from here.`,
    error,
    'database-unreachable',
  );
}

function failure(message: string, cause: Error, resource: ResourceFailure | undefined): CatalogFailure {
  return new CatalogFailure(message, { cause, ...(resource === undefined ? {} : { resource }) });
}
