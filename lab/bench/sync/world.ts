import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeQueries } from '../../../cli/demo/provider/made-queries.ts';
import type { Connection } from '../../../server/catalog/connections.ts';
import { sqliteIn } from '../../../server/catalog/location.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { NEVER_SYNCED, putSyncProject } from '../../../server/catalog/sync-projects.ts';
import { addDays, pacificDayOf } from '../../../server/domain/dates.ts';
import { toMicroseconds } from '../../../server/domain/instants.ts';
import { setConnection } from '../../../server/providers/connections.ts';
import { makeKeys as makeKeysOf } from '../data.ts';
import { load } from '../ordinate.ts';

const KEYS = 20;

/** Makes as many keys as a workspace may have: each may send so many requests in a minute. */
export async function makeKeys(dataFolder: string, workspace: string): Promise<readonly string[]> {
  return (await makeKeysOf(dataFolder, [workspace], KEYS))[workspace]!;
}

export interface ProjectsWorld {
  readonly properties: readonly string[];
  readonly connection: Connection;
  /** Of each project. */
  readonly keywords: readonly string[];
  /** Days that each project wants, up to the one of `now`. */
  readonly days: number;
  /** Milliseconds. */
  readonly now?: number;
  /** When a project is first due, by its place in the list; at once without it. In milliseconds. */
  readonly dueAt?: (index: number) => number;
}

/** Texts of the model's first queries, which are the same for all properties. @param count queries of each property */
export function sharedQueries(count: number): string[] {
  const plans = makeQueries({ seed: 1, count, origin: 'https://shop-1.example/', brand: 'acme' });
  return plans.flatMap(({ text }) => (text === null ? [] : [text]));
}

/** Makes a connected project of each property that was never synced. Returns their ids. */
export async function makeProjects(folder: string, dataFolder: string, world: ProjectsWorld): Promise<string[]> {
  const { properties, connection, keywords, days, now = Date.now(), dueAt } = world;
  const ids = properties.map((_, index) => `P${String(index).padStart(4, '0')}`);
  const snapshot = join(folder, 'snapshot');
  mkdirSync(snapshot, { recursive: true });
  const created = '2024-01-01T00:00:00Z';
  const tables = {
    workspaces: [{ id: 'bench', name: 'Bench', plan: 'team', keyword_history_days: 486 }],
    projects: ids.map((id, index) => ({
      id,
      workspace_id: 'bench',
      domain: properties[index]!.replace('sc-domain:', ''),
      property: properties[index]!,
      brand_terms: ['acme'],
      created_at: created,
    })),
    keywords: ids.flatMap((id) =>
      keywords.map((query, index) => ({
        project_id: id,
        id: `K${String(index).padStart(4, '0')}`,
        query,
        tracked_since: created,
      })),
    ),
  };
  for (const [table, rows] of Object.entries(tables)) {
    writeFileSync(join(snapshot, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  await load(dataFolder, snapshot);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const firstDay = addDays(pacificDayOf(now), 1 - days);
  for (const [index, id] of ids.entries()) {
    await setConnection(catalog, id, connection, toMicroseconds(Date.now()));
    await putSyncProject(catalog, id, {
      ...NEVER_SYNCED,
      firstDay,
      nextRunAt: dueAt ? toMicroseconds(dueAt(index)) : null,
    });
  }
  return ids;
}
