import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { createSpinner } from 'nanospinner';
import { actorOf } from '../server/catalog/audit.ts';
import { lastPublication } from '../server/catalog/fact-files.ts';
import { CatalogMissing } from '../server/catalog/failures.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { openUsage } from '../server/catalog/open-usage.ts';
import { readSchemaState } from '../server/catalog/schema-state.ts';
import { keepCopy } from '../server/catalog/store.ts';
import type { Usage } from '../server/catalog/usage.ts';
import { toMicroseconds } from '../server/domain/instants.ts';
import type { Stores } from '../server/load/stores.ts';
import { readSettings, type Settings } from '../server/settings/settings.ts';
import { progressLines } from './progress-lines.ts';

/** Maximum lines of a spinner: a terminal cannot erase a text that is longer than its screen. */
const SPINNER_LINES = 3;

/** Who changes something by command, and when, for the audit trail. */
export const commandWriter = () => ({ by: actorOf(null), at: toMicroseconds(Date.now()) });

/**
 * Runs `work` with the settings from the environment and an open catalog, which is closed when `work` ends.
 * @param create creates the data folder if it does not exist
 */
export async function withStores<T>(
  work: (stores: Stores) => T | Promise<T>,
  { create = false }: { create?: boolean } = {},
): Promise<T> {
  const settings = readSettings(process.env);
  const isNew = !existsSync(settings.dataFolder);
  await using catalog = await openCatalog(settings, { create });
  if (isNew && existsSync(settings.dataFolder))
    process.stderr.write(`Created the data folder ${settings.dataFolder}\n`);
  const warned = new Set<string>();
  const onWarning = (warning: string): void => {
    if (!warned.has(warning)) process.stderr.write(`Warning: ${warning}\n`);
    warned.add(warning);
  };
  if (settings.catalogUrl !== '') return await work({ settings, catalog, onWarning });
  const { changes } = await lastPublication(catalog);
  try {
    return await work({ settings, catalog, onWarning });
  } finally {
    const after = await lastPublication(catalog).catch(() => undefined);
    if (after !== undefined && after.changes > changes) await copyChanged(settings, onWarning);
  }
}

/** No server may be running to do it later. The change is committed whether this succeeds or not. */
export async function copyChanged(
  { dataFolder }: Pick<Settings, 'dataFolder'>,
  onWarning: (warning: string) => void,
  { ifCheap = true } = {},
): Promise<void> {
  await keepCopy(dataFolder, { ifCheap }).catch(({ message }: Error) => {
    onWarning(`The catalog could not be copied beside the facts (${message}); the next change tries again.`);
  });
}

/** Like `withStores`, for a dry run: uses an empty temporary catalog if there is none. */
export async function withStoresForDryRun<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
  const settings = readSettings(process.env);
  // Facts without a catalog mean a lost catalog, which `withStores` rejects.
  const hasFacts = existsSync(join(settings.dataFolder, 'facts'));
  if (hasFacts || (await hasCatalog(settings))) return withStores(work, { create: true });
  const dataFolder = await mkdtemp(join(tmpdir(), 'ordinate-dry-run-'));
  try {
    const dry = { ...settings, dataFolder, catalogUrl: '', storage: '' };
    await using catalog = await openCatalog(dry);
    return await work({ settings: dry, catalog });
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function hasCatalog(settings: Settings): Promise<boolean> {
  if (settings.catalogUrl === '') return existsSync(join(settings.dataFolder, 'catalog.sqlite'));
  try {
    await readSchemaState(settings);
    return true;
  } catch (error) {
    if (error instanceof CatalogMissing) return false;
    throw error;
  }
}

/** Runs `work` with the usage database, for reading only. Throws if it cannot be read. */
export async function withUsage<T>(
  { settings }: Pick<Stores, 'settings'>,
  work: (usage: Usage) => T | Promise<T>,
): Promise<T> {
  const fail = (error: unknown): never => {
    throw new Error(`The usage database cannot be read: ${(error as Error).message}.`, { cause: error });
  };
  const usage = openUsage(settings, fail, true);
  try {
    return await work(usage);
  } finally {
    await usage.close();
  }
}

/** Prints the output of a command with `--json`. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints rows as a table, or a sentence if there are none. */
export async function printTable(rows: readonly object[], none: string): Promise<void> {
  if (rows.length === 0) print(none);
  // Importing the widths of characters takes longer than most commands.
  else print((await import('./table.ts')).formatTable(rows));
}

/** Shows progress on standard error: a spinner on a terminal; otherwise nothing, or with `lines` a line every few seconds. */
export function progress({ lines = false } = {}): { report: (step: string) => void; end: () => void } {
  if (!process.stderr.isTTY) {
    return lines ? progressLines((line) => process.stderr.write(line)) : { report: () => {}, end: () => {} };
  }
  const stream = {
    write: (text: string) => process.stderr.write(text),
    get columns(): number {
      return columnsOfTerminal();
    },
  } as NodeJS.WriteStream;
  const spinner = createSpinner('starting', { stream });
  spinner.start();
  return {
    // Minus two: the spinner and a space.
    report: (step) => void spinner.update({ text: step.slice(0, SPINNER_LINES * columnsOfTerminal() - 2) }),
    end: () => void spinner.clear().stop(),
  };
}

/** Never 0, as for a terminal without a size: the spinner would erase infinitely many lines. */
function columnsOfTerminal(): number {
  return process.stderr.columns >= 1 ? process.stderr.columns : 80;
}

/** The reader of the output may stop early (`| head`); the command then completes its work without output. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** The exit code that sysexits.h names EX_TEMPFAIL: what failed may pass by itself. */
export const TRY_AGAIN = 75;

/** A failure after which a script may try the same again. */
export class TemporaryFailure extends Error {}

/** Prints an error message and makes the process fail. Prints a stack trace only at log level debug. */
export function fail(error: unknown): void {
  process.exitCode = error instanceof TemporaryFailure ? TRY_AGAIN : 1;
  // Commander has already printed its error or help.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  if (process.env['ORDINATE_LOG_LEVEL'] === 'debug') console.error(error);
}
