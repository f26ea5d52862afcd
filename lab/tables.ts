import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Row = Readonly<Record<string, unknown>>;
export type Tables = Readonly<Record<string, readonly Row[]>>;

/** Writes the rows of tables into a snapshot folder. */
export function writeTables(folder: string, tables: Tables): void {
  mkdirSync(folder, { recursive: true });
  for (const [table, rows] of Object.entries(tables)) {
    writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}

/** The workspace and the project of worlds that have one. */
export const WORKSPACE = 'acme';
export const PROJECT = 'Proj1';
export const CREATED = '2024-01-01T00:00:00Z';
export const WORKSPACES: readonly Row[] = [workspaceOf(WORKSPACE)];

export function workspaceOf(id: string): Row {
  return { id, name: id, plan: 'team', keyword_history_days: 486 };
}

export function propertyOf(id: string): string {
  return `sc-domain:${id.toLowerCase()}.example`;
}

export function projectOf(id: string, more: Row = {}): Row {
  const domain = `${id.toLowerCase()}.example`;
  return { id, workspace_id: WORKSPACE, domain, property: propertyOf(id), created_at: CREATED, ...more };
}
