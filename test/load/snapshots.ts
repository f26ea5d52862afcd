import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { LoadRejected, type Problem } from '../../server/domain/problems.ts';
import { readTables } from '../rows.ts';
import { type LazyWorld, PROJECT, type Row, type Tables, temporaryFolder } from '../world.ts';

export const SECOND: Row = { ...PROJECT, id: 'Proj2', domain: 'blog.example', property: 'https://blog.example/' };
/** Rows of every table, some of them odd. */
export const EVERYTHING: Tables = readTables('everything');

const PATHS = [
  '/projects',
  ...['Proj1', 'Proj2'].flatMap((project) =>
    [
      '/keywords?period=12m&daily=1',
      '/groups',
      '/page-groups',
      '/site?period=12m',
      '/site?period=12m&country=usa',
      '/breakdowns?period=12m',
      '/pages?period=12m',
      '/queries?period=12m',
      '/alerts',
      '/notes',
    ].map((path) => `/projects/${project}${path}`),
  ),
];

/** What the whole API says. */
export async function answersOf({ get }: Pick<LazyWorld, 'get'>): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of PATHS) {
    const { status, body } = await get(path);
    // Lists are made by the clock.
    if (body.source) body.source.fetchedAt = null;
    answers[path] = { status, body };
  }
  return answers;
}

/** Writes files, by path, into a new folder. */
export function writeFiles(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = join(temporaryFolder(t), 'snapshot');
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The problems that a load is refused for; fails when it is not refused. */
export async function problemsOf(load: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await load;
  } catch (error) {
    if (error instanceof LoadRejected) return error.problems;
    throw error;
  }
  throw new Error('the load was not refused');
}

/** Tables and columns of problems, in order. */
export const places = (problems: readonly Problem[]): string[] =>
  problems.map(({ table, column }) => `${table}.${column}`).sort();
