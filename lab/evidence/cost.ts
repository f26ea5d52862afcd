import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { evaluateProject } from '../../server/alerts/evaluate.ts';
import { withFacts } from '../../server/alerts/with-facts.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays } from '../../server/domain/dates.ts';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { readSettings } from '../../server/settings/settings.ts';

const DAYS = 486;
const FIRST = '2025-01-01';
const LAST = addDays(FIRST, DAYS - 1);

/** The cost of an evaluation of all days of a large project, in a separate process. */
export async function measureCost(keywords: number, print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  try {
    const settings = readSettings({ ...process.env, ORDINATE_DATA: join(folder, 'data') });
    await writeSnapshot(join(folder, 'snapshot'), keywords);
    {
      await using catalog = await openCatalog(settings);
      await loadSnapshot({ settings, catalog }, { folder: join(folder, 'snapshot') });
      // The first evaluation ends early, so that the measured one replays all days.
      const asOf = addDays(FIRST, 42);
      await withFacts({ settings, catalog }, (facts) => evaluateProject({ catalog, facts }, 'Proj1', { asOf }));
    }
    const script = fileURLToPath(new URL('./evaluate-once.ts', import.meta.url));
    const env = { ...process.env, ORDINATE_DATA: settings.dataFolder };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
    const { seconds, processor, before, peak, days } = JSON.parse(stdout) as Record<string, number>;
    print(
      `\n${keywords} keywords, ${days} days evaluated: ${seconds!.toFixed(2)} s, ${processor!.toFixed(2)} s of processor time`,
    );
    print(`Memory of the process: ${Math.round(peak!)} MB at most, ${Math.round(before!)} MB before it began.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeSnapshot(folder: string, keywords: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const write = (table: string, rows: readonly object[]): void => {
    writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  };
  const created = `${FIRST}T00:00:00Z`;
  write('workspaces', [{ id: 'evidence', name: 'Evidence', plan: 'team', keyword_history_days: DAYS }]);
  const project = { id: 'Proj1', workspace_id: 'evidence', domain: 'shop.example', property: 'sc-domain:shop.example' };
  write('projects', [{ ...project, synced_through: LAST, provisional_after: LAST, created_at: created }]);
  const ids = Array.from({ length: keywords }, (_, keyword) => String(keyword).padStart(5, '0'));
  write(
    'keywords',
    ids.map((id) => ({ project_id: 'Proj1', id, query: `query ${id}`, tracked_since: created })),
  );
  const engine = await Engine.open({
    memoryLimit: '1GB',
    threads: 2,
    temporaryFolder: `${folder}-memory`,
    folders: [folder],
  });
  try {
    using session = await engine.session();
    const source = join(folder, 'keyword_daily.parquet');
    await session.runFile('evidence/keyword_daily', { keywords, days: DAYS, first: FIRST, target: source });
    for (const table of ['keyword_page_daily', 'site_daily']) {
      await session.runFile(`evidence/${table}`, { source, target: join(folder, `${table}.parquet`) });
    }
  } finally {
    await engine.close();
  }
}
