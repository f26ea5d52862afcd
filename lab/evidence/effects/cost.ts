import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { addDays } from '../../../server/domain/dates.ts';
import { loadSnapshot } from '../../../server/load/load.ts';
import { effectsReport } from '../../../server/reports/effects.ts';
import { askReport } from '../../../server/reports/report.ts';
import { withReports } from '../../../server/reports/with-reports.ts';
import { readSettings } from '../../../server/settings/settings.ts';
import { Draws } from '../draws.ts';

const DAYS = 486;
/** The subject and 500 controls. */
const PAGES = 501;
const FIRST = '2025-01-01';
const QUESTIONS = 40;
const addressOf = (page: number): string => `https://shop.example/${page}`;

/**
 * Asks about changes of pages of a loaded project with 486 days and 500 controls, as a server does, and prints how long the
 * first question and the others took, and the longest turn of the event loop.
 */
export async function measureCost(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  try {
    const settings = readSettings({ ...process.env, ORDINATE_DATA: join(folder, 'data') });
    writeSnapshot(join(folder, 'snapshot'));
    await using catalog = await openCatalog(settings);
    await loadSnapshot({ settings, catalog }, { folder: join(folder, 'snapshot') });
    const log = { info: () => {}, warn: () => {} };
    const asked = { workspace: 'evidence', projects: null, id: 'Proj1', reader: 'evidence' };
    const signal = new AbortController().signal;
    await withReports({ settings, catalog, log, now: Date.now }, async (sources) => {
      const ask = async (question: number): Promise<number> => {
        const parameters = { date: addDays(FIRST, DAYS - 36 - question), page: addressOf(question * 7) };
        const began = performance.now();
        const { control } = await askReport(effectsReport, sources, { ...asked, signal }, parameters);
        if (control?.members !== PAGES - 1) throw new Error(`${control?.members} controls`);
        return performance.now() - began;
      };
      print(`\nThe first question: ${shown(await ask(0))}`);
      const times: number[] = [];
      for (let question = 1; question < QUESTIONS; question++) times.push(await ask(question));
      times.sort((a, b) => a - b);
      print(`${times.length} others: median ${shown(times[times.length >> 1]!)}, longest ${shown(times.at(-1)!)}`);
      const turns = new Turns();
      for (let question = 0; question < QUESTIONS; question++) await ask(question);
      print(`Longest turn of ${QUESTIONS} more: ${shown(turns.stop())} of processor time`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures turns of the event loop, by the processor time of its thread: other work of the machine is not in it. */
class Turns {
  #longest = 0;
  #isOver = false;

  constructor() {
    let before = process.threadCpuUsage();
    const turn = (): void => {
      const { user, system } = process.threadCpuUsage(before);
      this.#longest = Math.max(this.#longest, (user + system) / 1000);
      before = process.threadCpuUsage();
      if (!this.#isOver) setImmediate(turn);
    };
    setImmediate(turn);
  }

  /** The longest turn so far, in milliseconds. */
  stop(): number {
    this.#isOver = true;
    return this.#longest;
  }
}

const shown = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;

function writeSnapshot(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const write = (table: string, rows: readonly object[]): void =>
    writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const last = addDays(FIRST, DAYS - 1);
  const project = { id: 'Proj1', workspace_id: 'evidence', domain: 'shop.example', property: 'sc-domain:shop.example' };
  write('workspaces', [{ id: 'evidence', name: 'Evidence', plan: 'team', keyword_history_days: DAYS }]);
  write('projects', [{ ...project, synced_through: last, provisional_after: last, created_at: `${FIRST}T00:00:00Z` }]);
  const draws = new Draws('cost');
  const rows: object[] = [];
  for (let page = 0; page < PAGES; page++) {
    const mean = 7 * Math.exp(draws.uniform(0, 5));
    for (let day = 0; day < DAYS; day++) {
      const clicks = draws.poisson(mean);
      const counted = { clicks, impressions: 20 * clicks, sum_position: 60 * clicks };
      rows.push({ project_id: 'Proj1', date: addDays(FIRST, day), url: addressOf(page), country: 'usa', ...counted });
    }
  }
  write('page_daily', rows);
}
