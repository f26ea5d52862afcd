import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../../server/facts/duckdb/engine.ts';
import type { BenchOptions } from './options.ts';

/** The last day of all data: fixed, so that runs on different days compare, and in mid-month, as most days are. */
export const LAST_DAY = '2025-12-17';

const SEED = 'ordinate bench';

/** How much data to generate for a project. */
export interface ProjectPlan {
  readonly id: string;
  readonly workspace: string;
  readonly keywords: number;
  readonly days: number;
  readonly queries: number;
  readonly pages: number;
}

export const LARGE = 'Large';
export const MIDDLE = 'Middl';
/** The small projects, one in each workspace. */
export const small = (workspace: number): string => `Sml${String(workspace).padStart(2, '0')}`;
export const workspaceName = (workspace: number): string => `bench${workspace}`;

/** The first workspace has the large, the middle and a small project; each other one a small project. */
export function plans(options: BenchOptions): { large: ProjectPlan; others: ProjectPlan[] } {
  const { days, queries, pages } = options;
  const none = { workspace: workspaceName(1), days, queries: 0, pages: 0 };
  const middle = { ...none, id: MIDDLE, keywords: options.middleKeywords };
  const smalls = Array.from({ length: options.workspaces }, (_, index) => ({
    ...none,
    id: small(index + 1),
    workspace: workspaceName(index + 1),
    keywords: options.smallKeywords,
  }));
  return { large: { ...none, id: LARGE, keywords: options.keywords, queries, pages }, others: [middle, ...smalls] };
}

/** `count` equal projects of one workspace. */
export function equalPlans(count: number, keywords: number, days: number): ProjectPlan[] {
  return Array.from({ length: count }, (_, index) => ({
    // Four digits with letters, because ids have five and there may be 10,000.
    id: `P${(index + 1).toString(36).padStart(4, '0')}`,
    workspace: workspaceName(1),
    keywords,
    days,
    queries: 0,
    pages: 0,
  }));
}

/** Generates the query texts of these projects. */
export async function makeTexts(session: Session, projects: readonly ProjectPlan[]): Promise<void> {
  const count = Math.max(1, ...projects.flatMap(({ keywords, queries }) => [keywords, queries]));
  await session.runFile('bench/texts', { seed: SEED, count });
}

/** Writes workspaces, projects and keywords into a snapshot folder. Call `makeTexts` first. */
export async function writeEntities(session: Session, folder: string, projects: readonly ProjectPlan[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const workspaces = [...new Set(projects.map(({ workspace }) => workspace))];
  writeRows(
    join(folder, 'workspaces.ndjson'),
    workspaces.map((id) => ({ id, name: `Benchmark ${id}`, plan: 'team', keyword_history_days: 486 })),
  );
  writeRows(
    join(folder, 'projects.ndjson'),
    projects.map(({ id, workspace }) => ({
      id,
      workspace_id: workspace,
      domain: `${id.toLowerCase()}.example`,
      property: `sc-domain:${id.toLowerCase()}.example`,
      brand_terms: ['acme'],
      synced_through: LAST_DAY,
      created_at: '2024-01-01T00:00:00Z',
    })),
  );
  await useProjects(session, projects);
  await session.runFile('bench/keywords', { target: join(folder, 'keywords.parquet') });
}

/** Writes a fact table of the projects into a snapshot folder. */
export async function writeFacts(
  session: Session,
  folder: string,
  table: 'keyword_daily' | 'site_daily' | 'query_daily' | 'page_daily',
  projects: readonly ProjectPlan[],
  days?: number,
): Promise<void> {
  await useProjects(session, projects);
  const target = join(folder, `${table}.parquet`);
  await session.runFile(`bench/${table}`, {
    seed: SEED,
    last: LAST_DAY,
    target,
    ...(days === undefined ? {} : { days }),
  });
}

/** Writes query_daily and page_daily of a project as a site has them. */
export async function writeLists(session: Session, folder: string, project: ProjectPlan): Promise<void> {
  await useProjects(session, [project]);
  for (const [table, text, rows] of [
    ['query_daily', 'query', 'queries'],
    ['page_daily', 'url', 'pages'],
  ] as const) {
    const values = { seed: SEED, last: LAST_DAY, days: project.days, target: join(folder, `${table}.parquet`) };
    await session.runFile('bench/list_daily', values, { table, text, rows });
  }
}

async function useProjects(session: Session, projects: readonly ProjectPlan[]): Promise<void> {
  await session.runFile('bench/projects', { projects: JSON.stringify(projects) });
}

function writeRows(file: string, rows: readonly object[]): void {
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
