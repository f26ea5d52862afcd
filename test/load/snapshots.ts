import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { LoadRejected, type Problem } from '../../server/domain/problems.ts';
import { type LoadSummary, loadSnapshot } from '../../server/load/load.ts';
import {
  facts,
  keyword,
  type LazyWorld,
  PROJECT,
  type Row,
  sharedEngine,
  type Tables,
  temporaryFolder,
  WORKSPACE,
} from '../world.ts';

export const SECOND: Row = { ...PROJECT, id: 'Proj2', domain: 'blog.example', property: 'https://blog.example/' };
const ODD = 'shoes, "red"\nor #blue; ünïcode 👟';

/** Rows of every table, some of them odd. */
export const EVERYTHING: Tables = {
  workspaces: [WORKSPACE],
  projects: [
    { ...PROJECT, country: 'usa', language: 'en', brand_terms: ['acme', 'ac, "me"'] },
    { ...SECOND, created_at: '2025-06-07T08:09:10.123Z', sync_status: 'warning', history_backfilling: true },
  ],
  keywords: [
    keyword('Kw001', 'buy shoes', { source: 'manual', intent: 'commercial' }),
    keyword('Kw002', ODD, { tracked_since: '2025-07-08T09:10:11.5Z' }),
    keyword('Kw003', 'old', { archived: true }),
    keyword('Kw001', 'blog', { project_id: 'Proj2' }),
  ],
  groups: [
    { project_id: 'Proj1', id: 'Gr001', name: 'All', kind: 'folder', position: 1, pinned: true },
    { project_id: 'Proj1', id: 'Gr002', name: 'Some', kind: 'manual', parent_id: 'Gr001', position: 2 },
    {
      project_id: 'Proj1',
      id: 'Gr003',
      name: 'Near, the "top"',
      kind: 'rule',
      parent_id: 'Gr001',
      position: 3,
      rule: {
        match: 'all',
        conditions: [
          { field: 'query', op: 'contains', value: 'shoes' },
          { field: 'position', op: 'lte', value: 10.5 },
        ],
      },
    },
  ],
  group_members: [
    { project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Kw002' },
  ],
  page_groups: [
    {
      project_id: 'Proj1',
      id: 'Pg001',
      name: 'Blog',
      position: 1,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/blog' }] },
      pinned_urls: ['/a,b', '/"c"'],
    },
  ],
  alerts: [
    {
      id: '0a1b2c3d-0000-4000-8000-000000000001',
      project_id: 'Proj1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: 'Fell, by 3',
      body: 'Line 1\nline "2"',
      date: '2026-03-02',
      keyword_id: 'Kw001',
      url: 'https://app.example/k?a=1,2',
      created_at: '2026-03-03T04:05:06.789Z',
      resolved_at: '2026-03-04T00:00:00Z',
    },
  ],
  notes: [
    {
      id: '0a1b2c3d-0000-4000-8000-000000000002',
      workspace_id: 'acme',
      scope: 'workspace',
      date: '2026-01-01',
      category: 'other',
      text: 'New year',
      author: 'Ann',
      created_at: '2026-01-01T10:00:00Z',
      updated_at: '2026-01-01T10:00:00Z',
    },
    {
      id: '0a1b2c3d-0000-4000-8000-000000000003',
      workspace_id: 'acme',
      project_id: 'Proj1',
      scope: 'group',
      date: '2026-02-01',
      end_date: '2026-02-03',
      category: 'launch',
      text: 'a "b",\nc',
      client_visible: true,
      author: 'Bob',
      group_id: 'Gr002',
      created_at: '2026-02-01T10:00:00Z',
      updated_at: '2026-02-02T10:00:00Z',
    },
  ],
  site_daily: [
    ...facts('date device', ['2026-02-28', 'desktop', 3, 100, 900], ['2026-03-01', 'mobile', 1, 60, 120]),
    { project_id: 'Proj2', date: '2026-03-02', device: 'tablet', clicks: 7, impressions: 9, sum_position: 0 },
  ],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-01', 'desktop', 2, 10, 15],
    ['Kw002', '2026-03-02', 'mobile', 0, 4, 80],
  ),
  keyword_page_daily: facts(
    'keyword_id date url',
    ['Kw001', '2026-03-01', 'https://shop.example/a,b?c="d"', 2, 9, 12],
    ['Kw001', '2026-03-01', 'https://shop.example/', 0, 3, 30],
    ['Kw002', '2026-02-02', 'https://shop.example/', 1, 4, 80],
  ),
  country_daily: facts('date country', ['2026-03-01', 'usa', 2, 50, 90], ['2026-03-02', 'zzz', 0, 2, 2]),
  country_monthly: facts('month country', ['2025-12-01', 'usa', 31, 310, 620], ['2026-01-01', 'other', 1, 62, 0]),
  appearance_daily: facts('date appearance', ['2026-03-01', 'PRODUCT_SNIPPETS', 1, 9, 9]),
  brand_daily: facts('date segment', ['2026-03-01', 'brand', 1, 5, 2], ['2026-03-01', 'non_brand', 1, 7, 30]),
  page_daily: facts(
    'date url country',
    ['2026-03-01', 'https://shop.example/a,b?c="d"', 'usa', 2, 50, 90],
    ['2026-02-03', 'https://shop.example/', 'deu', 1, 5, 9],
  ),
  query_daily: facts(
    'date query country',
    ['2026-03-01', ODD, 'usa', 2, 50, 90],
    ['2026-03-02', '# acme', 'usa', 1, 5, 9],
  ),
};

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

/** Loads a folder into a world. */
export function loadFolder(
  { settings, catalog }: LazyWorld,
  folder: string,
  options: { replace?: boolean; dryRun?: boolean; confirmDelete?: string[]; acceptImplausible?: boolean } = {},
): Promise<LoadSummary> {
  return loadSnapshot({ settings, catalog }, { folder, engine: () => sharedEngine(settings), ...options });
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

export const ndjson = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
