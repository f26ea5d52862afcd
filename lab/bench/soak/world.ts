import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeQueries } from '../../../cli/demo/provider/made-queries.ts';
import { createKey } from '../../../server/catalog/keys.ts';
import { sqliteIn } from '../../../server/catalog/location.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { addDays, type Day } from '../../../server/domain/dates.ts';
import { toMicroseconds } from '../../../server/domain/instants.ts';
import { ordinate } from '../ordinate.ts';
import { LAST_DAY } from '../snapshots.ts';
import type { Model } from '../sync/model.ts';
import { makeProjects } from '../sync/world.ts';
import { keywordIds, keywordText, PROJECTS, type Sizes } from './facts.ts';
import { type State, Truth } from './truth.ts';

/** That of `makeProjects`. */
const WORKSPACE = 'bench';
/** The workspace whose keys are rotated; the others belong to the traffic. */
export const ROTATED = 'rotated';
/** As many as a workspace may have. */
const KEYS = 20;
const CREATED = '2024-01-01T00:00:00Z';
const SYNCED_KEYWORDS = 20;
const SYNCED_DAYS = 20;

/** Loads the first state, and returns what is known of it. */
export async function makeTruth(folder: string, dataFolder: string, sizes: Sizes): Promise<Truth> {
  const truth = new Truth(sizes);
  const days = Array.from({ length: sizes.days }, (_, index) => addDays(LAST_DAY, index + 1 - sizes.days));
  const state = truth.begin(days);
  const ids = keywordIds(sizes);
  const each = (row: (project: string) => object[]): object[] => PROJECTS.flatMap(row);
  await loadTables(folder, dataFolder, {
    workspaces: [WORKSPACE, ROTATED].map((id) => ({ id, name: id, plan: 'team', keyword_history_days: 486 })),
    ...tablesOf(truth, state, days),
    keywords: each((project_id) =>
      ids.map((id) => ({ project_id, id, query: keywordText(id), tracked_since: CREATED })),
    ),
    groups: each((project_id) => [{ project_id, id: 'Group', name: 'Ten', kind: 'manual', position: 0 }]),
    group_members: each((project_id) =>
      ids.slice(0, 10).map((keyword_id) => ({ project_id, group_id: 'Group', keyword_id })),
    ),
    page_groups: each((project_id) => [
      {
        project_id,
        id: 'Pages',
        name: 'Ones',
        position: 0,
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/0' }] },
      },
    ]),
    notes: [
      {
        id: '5e1f0000-0000-4000-8000-000000000001',
        workspace_id: WORKSPACE,
        scope: 'workspace',
        date: LAST_DAY,
        category: 'other',
        text: 'A note',
        author: 'Soak',
        created_at: CREATED,
        updated_at: CREATED,
      },
    ],
  });
  truth.published();
  return truth;
}

/** Loads days in their versions of a state. `change` may alter what is loaded. */
export async function loadDays(
  folder: string,
  dataFolder: string,
  truth: Truth,
  { state, days }: { state: State; days: readonly Day[] },
  change: (tables: Record<string, object[]>) => void = () => {},
): Promise<void> {
  const tables = tablesOf(truth, state, days);
  change(tables);
  await loadTables(folder, dataFolder, tables);
}

/** The projects, and the facts of some days. */
function tablesOf(truth: Truth, state: State, days: readonly Day[]): Record<string, object[]> {
  const facts = truth.tables.map((table) => [
    table,
    PROJECTS.flatMap((project) => truth.rows(state, project, table, days)),
  ]);
  const projects = PROJECTS.map((id) => ({
    id,
    workspace_id: WORKSPACE,
    domain: `${id.toLowerCase()}.example`,
    property: `sc-domain:${id.toLowerCase()}.example`,
    brand_terms: ['acme'],
    synced_through: state.lastDay,
    created_at: CREATED,
  }));
  return { projects, ...Object.fromEntries(facts) } as Record<string, object[]>;
}

async function loadTables(
  folder: string,
  dataFolder: string,
  tables: Readonly<Record<string, object[]>>,
): Promise<void> {
  const snapshot = join(folder, 'snapshot');
  mkdirSync(snapshot, { recursive: true });
  for (const [table, rows] of Object.entries(tables)) {
    writeFileSync(join(snapshot, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  await ordinate(dataFolder, 'load', snapshot, '--json');
  rmSync(snapshot, { recursive: true });
}

/** Makes a project that is synced from the model; returns its id. */
export async function makeSynced(folder: string, dataFolder: string, model: Model): Promise<string> {
  const plans = makeQueries({ seed: 1, count: SYNCED_KEYWORDS, origin: 'https://shop-1.example/', brand: 'acme' });
  const keywords = plans.flatMap(({ text }) => (text === null ? [] : [text]));
  const world = { properties: model.properties, connection: model.connection, keywords, days: SYNCED_DAYS };
  return (await makeProjects(folder, dataFolder, world))[0]!;
}

export async function makeTrafficKeys(dataFolder: string): Promise<string[]> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const keys: string[] = [];
  while (keys.length < KEYS) {
    const wanted = { workspace: WORKSPACE, name: `Soak ${keys.length}`, by: null, at: toMicroseconds(Date.now()) };
    keys.push((await createKey(catalog, wanted)).key);
  }
  return keys;
}
