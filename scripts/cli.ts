import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { createSpinner } from 'nanospinner';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { UsageDatabase } from '../server/catalog/usage.ts';
import type { Stores } from '../server/load/stores.ts';
import { readSettings } from '../server/settings.ts';
import { progressLines } from './progress-lines.ts';

/**
 * Settings from the environment, with the catalog that they name; closed when `work` ends.
 * @param create for commands that begin something: makes the data folder where there is none
 */
export async function withStores<T>(
  work: (stores: Stores) => T | Promise<T>,
  { create = false }: { create?: boolean } = {},
): Promise<T> {
  const settings = readSettings(process.env);
  await using catalog = await openCatalog(settings.dataFolder, { create });
  return await work({ settings, catalog });
}

/** As `withStores`, for a dry run: where there is no data yet, an empty folder stands in for it, and none is made. */
export async function withStoresForDryRun<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
  const settings = readSettings(process.env);
  // Facts without a catalog are a lost catalog, which is refused in words.
  const isThere = ['catalog.sqlite', 'facts'].some((name) => existsSync(join(settings.dataFolder, name)));
  if (isThere) return withStores(work, { create: true });
  const dataFolder = await mkdtemp(join(tmpdir(), 'ordinate-dry-run-'));
  try {
    await using catalog = await openCatalog(dataFolder);
    return await work({ settings: { ...settings, dataFolder }, catalog });
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

/** Runs `work` with the database of usage; throws where it cannot be read. */
export async function withUsage<T>(
  { settings }: Pick<Stores, 'settings'>,
  work: (usage: UsageDatabase) => T | Promise<T>,
): Promise<T> {
  const usage = new UsageDatabase(settings.dataFolder, (error) => {
    throw new Error(`The database of usage cannot be read: ${(error as Error).message}.`, { cause: error });
  });
  try {
    return await work(usage);
  } finally {
    usage.close();
  }
}

/** The one document of a command that was asked for `--json`. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rows as a table for people, or a sentence where there are none. */
export async function printTable(rows: readonly object[], none: string): Promise<void> {
  if (rows.length === 0) print(none);
  // The widths of texts take longer to read than most commands to run.
  else print((await import('./table.ts')).formatTable(rows));
}

/** Shows progress on standard error: a spinner on a terminal; elsewhere nothing, or with `lines` a line now and then. */
export function progress({ lines = false } = {}): { report: (step: string) => void; end: () => void } {
  if (!process.stderr.isTTY) {
    return lines ? progressLines((line) => process.stderr.write(line)) : { report: () => {}, end: () => {} };
  }
  const spinner = createSpinner('starting', { stream: process.stderr });
  spinner.start();
  return {
    report: (step) => void spinner.update({ text: step }),
    end: () => void spinner.clear().stop(),
  };
}

/** Whoever reads the output may stop early (`| head`): what comes then goes nowhere, and the command still does its work. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** Prints an error as sentences and makes the process fail. A stack trace only where debugging was asked for. */
export function fail(error: unknown): void {
  process.exitCode = 1;
  // Commander has printed its own, or there was only help to print.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  if (process.env['ORDINATE_LOG_LEVEL'] === 'debug') console.error(error);
}
