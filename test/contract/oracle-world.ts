import type { Row, Tables } from '../world.ts';
import {
  addDayOfMonth,
  addRow,
  addUp,
  byText,
  DAY,
  type Days,
  monthSpan,
  number,
  type Sum,
  text,
} from './oracle-terms.ts';

export type Project = Row & { readonly id: string };

/** The kinds of search, in the order of answers, and their tables: Bing tells no countries. */
export const SURFACES: Readonly<Record<string, { readonly site: string; readonly country?: string }>> = {
  web: { site: 'site_daily', country: 'country_daily' },
  image: { site: 'site_daily_image', country: 'country_daily_image' },
  video: { site: 'site_daily_video', country: 'country_daily_video' },
  news: { site: 'site_daily_news', country: 'country_daily_news' },
  discover: { site: 'site_daily_discover', country: 'country_daily_discover' },
  googleNews: { site: 'site_daily_google_news', country: 'country_daily_google_news' },
  bing: { site: 'site_daily_bing' },
};
export const TYPES = Object.keys(SURFACES).slice(0, -1);
/** Kinds of search that tell no positions. */
export const WITHOUT_POSITIONS = ['discover', 'googleNews', 'bing'];

/** A row and its day, if it has one. */
interface DayRow {
  readonly row: Row;
  readonly at: number;
}

/** The rows of a world that a workspace sees at an instant. */
export class OracleWorld {
  readonly tables: Tables;
  readonly workspace: Row;
  readonly now: number;
  readonly #rows = new Map<string, readonly DayRow[]>();

  constructor(tables: Tables, workspace: string, now: number) {
    this.tables = tables;
    this.workspace = tables['workspaces']!.find(({ id }) => id === workspace)!;
    this.now = now;
  }

  allProjects(): Row[] {
    const isShown = (row: Row): boolean =>
      row['workspace_id'] === this.workspace['id'] && row['setup_finished'] !== false;
    return this.tables['projects']!.filter(isShown);
  }

  /** Projects, oldest first. */
  inAge(): Project[] {
    const age = (row: Row): number => Date.parse(String(row['created_at']));
    return this.allProjects().sort((a, b) => age(a) - age(b) || byText(a['id'], b['id'])) as Project[];
  }

  /** What lists of projects say of one. */
  about(row: Project): Row {
    return {
      id: row['id'],
      domain: row['domain'],
      property: row['property'],
      country: row['country'],
      language: row['language'],
      syncStatus: row['sync_status'] ?? (row['synced_through'] === null ? 'pending' : 'ok'),
      lastSyncedAt: row['last_synced_at'],
      syncedThrough: row['synced_through'],
      keywordHistoryFrom: text(this.historyFrom(row)),
      historyBackfilling: row['history_backfilling'],
      trackedKeywords: this.tracked(row).length,
    };
  }

  /** Rows of a project, within a range if one is given. */
  rows(project: Project, table: string, days?: Days): Row[] {
    const all = this.#rowsOf(project, table);
    const asked = days === undefined ? all : all.filter(({ at }) => at >= days.from && at <= days.to);
    return asked.map(({ row }) => row);
  }

  /** Found once: reading the days of all rows again and again took longer than the server's answers. */
  #rowsOf(project: Project, table: string): readonly DayRow[] {
    const what = `${table} ${project.id}`;
    const known = this.#rows.get(what);
    if (known !== undefined) return known;
    const rows = (this.tables[table] ?? []).filter((row) => row['project_id'] === project.id);
    const found = rows.map((row) => ({ row, at: number(String(row['date'])) }));
    this.#rows.set(what, found);
    return found;
  }

  daysOf(project: Project, table: string): number[] {
    return [...new Set(this.#rowsOf(project, table).map(({ at }) => at))];
  }

  /** The sum of rows of some days. */
  sum(project: Project, table: string, days: readonly number[], isMeant: (row: Row) => boolean = () => true): Sum {
    const on = new Set(days);
    const rows = this.#rowsOf(project, table).filter(({ at, row }) => on.has(at) && isMeant(row));
    return addUp(rows.map(({ row }) => row));
  }

  today(): number {
    return Math.floor(this.now / DAY);
  }

  lastDay(project: Row): number {
    const synced = project['synced_through'] as string | null;
    return synced === null ? this.today() - 1 : number(synced);
  }

  /** The last final day by which `to=final` ends. */
  finalDay(project: Row): number {
    const final = project['provisional_after'] as string | null;
    return final === null ? this.lastDay(project) : Math.min(number(final), this.lastDay(project));
  }

  historyFrom(project: Row): number {
    return this.lastDay(project) - (this.workspace['keyword_history_days'] as number) + 1;
  }

  tracked(project: Project): Row[] {
    return this.rows(project, 'keywords')
      .filter(({ archived }) => archived !== true)
      .sort((a, b) => byText(a['query'], b['query']) || byText(a['id'], b['id']));
  }

  inOrder(project: Project, table: string): Row[] {
    return this.rows(project, table).sort(
      (a, b) => (a['position'] as number) - (b['position'] as number) || byText(a['id'], b['id']),
    );
  }

  /** Last day of the newest stored month; -Infinity without one. */
  monthlyThrough(project: Project): number {
    return Math.max(...this.rows(project, 'country_monthly').map(({ month }) => monthSpan(String(month)).to));
  }

  /** A country on a day: of its month up to the last stored month, after it as stored. */
  addCountryDay(sum: Sum, project: Project, country: string, day: number): void {
    const isOfCountry = (row: Row): boolean => row['country'] === country;
    if (day <= this.monthlyThrough(project)) {
      for (const row of this.rows(project, 'country_monthly').filter(isOfCountry)) {
        const { from, to } = monthSpan(String(row['month']));
        if (from <= day && day <= to) addDayOfMonth(sum, row, day);
      }
    } else {
      for (const row of this.rows(project, 'country_daily', { from: day, to: day }).filter(isOfCountry))
        addRow(sum, row);
    }
  }
}
