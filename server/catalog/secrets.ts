import {
  addKey,
  forgetKeys,
  hasKeys,
  type KeyFile,
  keyIdOf,
  openSealed,
  SecretsFailure,
  sealText,
  withKeyFile,
} from '../runtime/secrets.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog, Statement } from './catalog.ts';

/**
 * All columns with encrypted secrets, which may be null; `row` is the column that identifies a row. A new one needs nothing
 * but its line: rotations read this list.
 */
const SEALED_COLUMNS = {
  'grants.refresh_token': { table: 'grants', row: 'id', column: 'refresh_token' },
  'connect_attempts.verifier': { table: 'connect_attempts', row: 'state_hash', column: 'verifier' },
  'channels.address': { table: 'channels', row: 'id', column: 'address' },
  'channels.secret': { table: 'channels', row: 'id', column: 'secret' },
  'channels.old_secret': { table: 'channels', row: 'id', column: 'old_secret' },
} as const satisfies Readonly<Record<string, Record<'table' | 'row' | 'column', string>>>;

/** A value of such a column, and its row. */
export interface SealedField {
  readonly column: keyof typeof SEALED_COLUMNS;
  /** The value of the key column. */
  readonly id: string;
}

/** Lasts for minutes, and costs nobody more than a second try. */
const PASSING: SealedField['column'] = 'connect_attempts.verifier';

/**
 * Encrypts a secret for a column, in the transaction that stores it. Makes the first key, unless there are lasting secrets
 * already: then the file of keys is lost, and another key would hide that. Throws `SecretsFailure`.
 */
export async function seal(tx: Catalog, keyFile: KeyFile, field: SealedField, text: string): Promise<string> {
  requireKeys(keyFile, hasKeys(keyFile) ? [] : await readAll(tx));
  return sealText(keyFile, text, labelOf(field));
}

/** Decrypts a secret of a column. Throws `SecretsFailure` without its key. */
export function unseal(keyFile: KeyFile, field: SealedField, sealed: string): string {
  return openSealed(keyFile, sealed, labelOf(field));
}

/** Whether a secret of a column can be decrypted. */
export function isReadable(keyFile: KeyFile, field: SealedField, sealed: string): boolean {
  try {
    unseal(keyFile, field, sealed);
    return true;
  } catch (error) {
    if (error instanceof SecretsFailure) return false;
    throw error;
  }
}

interface Rotated {
  readonly rotated: number;
  /** Secrets whose key is missing: they stay as they are. */
  readonly unreadable: number;
  /** Keys that were removed from the file. */
  readonly forgotten: number;
}

/**
 * Makes a new key and encrypts all secrets again, in one transaction. The key is in the file before; old keys are removed
 * after the commit, with `forget` only, so that everything can be read whenever this is killed.
 */
export async function rotateSecrets(catalog: Catalog, keyFile: KeyFile, forget: boolean): Promise<Rotated> {
  return withKeyFile(keyFile, async () => {
    const { rotated, unreadable } = await catalog.transaction(async (tx) => {
      const all = await readAll(tx);
      requireKeys(keyFile, all);
      await addKey(keyFile);
      const readable = all.filter(({ sealed, ...field }) => isReadable(keyFile, field, sealed));
      for (const { sealed, ...field } of readable) {
        const again = await seal(tx, keyFile, field, unseal(keyFile, field, sealed));
        const statement: Statement = { template: 'grants.set_sealed', fills: SEALED_COLUMNS[field.column] };
        await tx.statements.run(statement, { id: field.id, sealed: again });
      }
      const counts = { rotated: readable.length, unreadable: all.length - readable.length };
      await recordAudit(tx, {
        workspace: null,
        actor: actorOf(null),
        action: 'secrets.rotated',
        subject: null,
        details: counts,
      });
      return counts;
    });
    // In a transaction again: nothing is encrypted outside of one.
    const forgotten = forget
      ? await catalog.transaction(async (tx) =>
          forgetKeys(keyFile, new Set((await readAll(tx)).map(({ sealed }) => keyIdOf(sealed)))),
        )
      : 0;
    return { rotated, unreadable, forgotten };
  });
}

/**
 * Throws `SecretsFailure` if this node lacks the file of keys, or has that of another installation: lasting secrets exist,
 * and it can decrypt none of them.
 */
export async function checkSecretsKey(catalog: Catalog, keyFile: KeyFile): Promise<void> {
  const lasting = (await readAll(catalog)).filter(({ column }) => column !== PASSING);
  requireKeys(keyFile, lasting);
  if (lasting.length === 0 || lasting.some(({ sealed, ...field }) => isReadable(keyFile, field, sealed))) return;
  throw new SecretsFailure(
    `The file of keys '${keyFile.secretsKeyFile}' (ORDINATE_SECRETS_KEY_FILE) has the key of no stored secret: it must be the one of the other nodes.`,
  );
}

async function readAll(tx: Catalog): Promise<(SealedField & { sealed: string })[]> {
  const found: (SealedField & { sealed: string })[] = [];
  for (const [name, fills] of Object.entries(SEALED_COLUMNS)) {
    const rows = await tx.statements.all<{ id: string; sealed: string }>({ template: 'grants.sealed', fills });
    found.push(...rows.map((row) => ({ ...row, column: name as SealedField['column'] })));
  }
  return found;
}

function labelOf({ column, id }: SealedField): string {
  return `${column} ${id}`;
}

/** Throws `SecretsFailure` if there are lasting secrets and no file of keys. */
function requireKeys(keyFile: KeyFile, all: readonly SealedField[]): void {
  if (hasKeys(keyFile) || all.every(({ column }) => column === PASSING)) return;
  throw new SecretsFailure(
    `The file of keys '${keyFile.secretsKeyFile}' (ORDINATE_SECRETS_KEY_FILE) is missing, but there are secrets that need it. Restore it from its copy; if it is lost, \`ordinate secrets remove-unreadable\` removes the accounts and channels that need it.`,
  );
}
