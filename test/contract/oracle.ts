// What the API answers, worked out from the rows of a snapshot by the words of the contract alone: whole numbers and
// fractions of any size, one row after the other, nothing of the server.
import type { Row, Tables } from '../world.ts';

/** What is expected of an answer: the body, or of a refusal its status, code and the parameter that it names. */
export type Expected =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly code: string; readonly named?: string };

class Refusal extends Error {
  readonly expected: Expected;

  constructor(status: number, code: string, named?: string) {
    super(code);
    this.expected = { status, code, ...(named === undefined ? {} : { named }) };
  }
}

const bad = (named: string): Refusal => new Refusal(400, 'invalid_request', named);
const missing = (): Refusal => new Refusal(404, 'not_found');

// Days

const DAY = 86_400_000;
const number = (day: string): number => Date.parse(day) / DAY;
const text = (days: number): string => new Date(days * DAY).toISOString().slice(0, 10);
const lengthOf = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/** The days of the month whose first day is given. */
function monthSpan(first: string): { from: number; to: number; length: number } {
  const [year = 0, month = 0] = first.split('-').map(Number);
  const length = lengthOf(year, month - 1);
  return { from: number(first), to: number(first) + length - 1, length };
}

// Numbers

/** clicks, impressions, and impressions times (position - 1) as a fraction. */
interface Sum {
  clicks: bigint;
  impressions: bigint;
  top: bigint;
  bottom: bigint;
}

const zero = (): Sum => ({ clicks: 0n, impressions: 0n, top: 0n, bottom: 1n });

function addTo(sum: Sum, clicks: bigint, impressions: bigint, top: bigint, bottom = 1n): void {
  sum.clicks += clicks;
  sum.impressions += impressions;
  sum.top = sum.top * bottom + top * sum.bottom;
  sum.bottom *= bottom;
}

function addRow(sum: Sum, row: Row): void {
  addTo(
    sum,
    BigInt(row['clicks'] as number),
    BigInt(row['impressions'] as number),
    BigInt(row['sum_position'] as number),
  );
}

/** A month's row on one of its days: floor(T d / n) - floor(T (d - 1) / n), at the month's average position. */
function addDayOfMonth(sum: Sum, row: Row, day: number): void {
  const { from, length } = monthSpan(String(row['month']));
  const share = (name: string): bigint => {
    const total = BigInt(row[name] as number);
    const d = BigInt(day - from + 1);
    return (total * d) / BigInt(length) - (total * (d - 1n)) / BigInt(length);
  };
  const impressions = share('impressions');
  const all = BigInt(row['impressions'] as number);
  addTo(
    sum,
    share('clicks'),
    impressions,
    all === 0n ? 0n : BigInt(row['sum_position'] as number) * impressions,
    all || 1n,
  );
}

function addUp(rows: readonly Row[]): Sum {
  const sum = zero();
  for (const row of rows) addRow(sum, row);
  return sum;
}

/** To so many decimals, halves away from zero. */
function rounded(top: bigint, bottom: bigint, decimals: number): number {
  const scaled = top * 10n ** BigInt(decimals);
  const digits = String(scaled / bottom + (2n * (scaled % bottom) >= bottom ? 1n : 0n)).padStart(decimals + 1, '0');
  return Number(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}

function metrics({ clicks, impressions, top, bottom }: Sum) {
  const none = impressions === 0n;
  return {
    clicks: Number(clicks),
    impressions: Number(impressions),
    ctr: none ? null : rounded(clicks, impressions, 4),
    position: none ? null : rounded(top + impressions * bottom, impressions * bottom, 1),
  };
}

// Order

const byText = (a: unknown, b: unknown): number => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
const descending = (a: number, b: number): number => b - a;

// Parameters

interface Query {
  get(name: string): string | undefined;
}

function readQuery(path: string): Query {
  const sent = new URLSearchParams(path.split('?')[1] ?? '');
  return {
    get: (name) => {
      const values = sent.getAll(name);
      if (values.length > 1 || values[0] === '') throw bad(name);
      return values[0];
    },
  };
}

function dayIn(query: Query, name: string): number | undefined {
  const sent = query.get(name);
  if (sent === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(sent) || Number.isNaN(number(sent)) || text(number(sent)) !== sent) throw bad(name);
  return number(sent);
}

function wholeIn(query: Query, name: string, byDefault: number, least: number, most: number): number {
  const sent = query.get(name) ?? String(byDefault);
  if (!/^\d+$/.test(sent) || Number(sent) < least || Number(sent) > most) throw bad(name);
  return Number(sent);
}

function oneIn(query: Query, name: string, allowed: readonly string[]): string | undefined {
  const sent = query.get(name);
  if (sent !== undefined && !allowed.includes(sent)) throw bad(name);
  return sent;
}

function flagIn(query: Query, name: string): boolean {
  return ['1', 'true'].includes(oneIn(query, name, ['1', 'true', '0', 'false']) ?? '0');
}

function countryIn(query: Query): string | null {
  const sent = query.get('country');
  if (sent !== undefined && !/^[A-Za-z]{3}$/.test(sent)) throw bad('country');
  return sent?.toLowerCase() ?? null;
}

interface Days {
  readonly from: number;
  readonly to: number;
}

/** `from`, `to` and `period`; ends with `last` where no end is asked for. */
function rangeIn(query: Query, last: number): Days {
  const [from, end] = [dayIn(query, 'from'), dayIn(query, 'to')];
  const to = end ?? last;
  const period = query.get('period');
  if (period === undefined) {
    const start = from ?? to - 27;
    if (start > to || to - start + 1 > 486) throw bad('from');
    return { from: start, to };
  }
  const [, digits, unit] = /^(\d+)([dm])$/.exec(period) ?? [];
  const count = Number(digits);
  if (from !== undefined || !(count >= 1 && count <= (unit === 'd' ? 486 : 16))) throw bad('period');
  if (unit === 'd') return { from: to - count + 1, to };
  const [year = 0, month = 0, date = 0] = text(to).split('-').map(Number);
  const earlier = Date.UTC(year, month - 1 - count, 1);
  const length = lengthOf(new Date(earlier).getUTCFullYear(), new Date(earlier).getUTCMonth());
  return { from: Math.max(earlier / DAY + Math.min(date, length), to - 485), to };
}

// The oracle

type Project = Row & { readonly id: string };

/** Answers for a workspace at an instant. */
export class Oracle {
  readonly #tables: Tables;
  readonly #workspace: Row;
  readonly #now: number;

  constructor(tables: Tables, workspace: string, now: number) {
    this.#tables = tables;
    this.#workspace = tables['workspaces']!.find(({ id }) => id === workspace)!;
    this.#now = now;
  }

  /** What is answered to a path below the API's root. */
  answer(path: string): Expected {
    const [, , id, endpoint = ''] = path.split('?')[0]!.split('/');
    try {
      if (id === undefined) return { status: 200, body: this.#projects() };
      const project = this.#allProjects().find((row) => row['id'] === id);
      if (project === undefined) throw missing();
      const of = { ...project, id } as Project;
      const body = this.#endpoints[endpoint]!(of, readQuery(path)) as object;
      return { status: 200, body: { project: { id, domain: of['domain'] }, ...body } };
    } catch (error) {
      if (error instanceof Refusal) return error.expected;
      throw error;
    }
  }

  readonly #endpoints: Readonly<Record<string, (project: Project, query: Query) => object>> = {
    keywords: (project, query) => this.#keywords(project, query),
    groups: (project) => this.#groupList(project),
    'page-groups': (project) => this.#pageGroups(project),
    site: (project, query) => this.#site(project, query),
    breakdowns: (project, query) => this.#breakdowns(project, query),
    pages: (project, query) => this.#list(project, query, 'pages'),
    queries: (project, query) => this.#list(project, query, 'queries'),
    alerts: (project, query) => this.#alerts(project, query),
    notes: (project, query) => this.#notes(project, query),
  };

  #allProjects(): Row[] {
    const isShown = (row: Row): boolean =>
      row['workspace_id'] === this.#workspace['id'] && row['setup_finished'] !== false;
    return this.#tables['projects']!.filter(isShown);
  }

  /** Rows of a project, of a range where one is given. */
  #rows(project: Project, table: string, days?: Days): Row[] {
    return (this.#tables[table] ?? []).filter((row) => {
      if (row['project_id'] !== project.id) return false;
      const at = days && number(String(row['date']));
      return at === undefined || days === undefined || (at >= days.from && at <= days.to);
    });
  }

  #today(): number {
    return Math.floor(this.#now / DAY);
  }

  #lastDay(project: Row): number {
    const synced = project['synced_through'] as string | null;
    return synced === null ? this.#today() - 1 : number(synced);
  }

  #historyFrom(project: Row): number {
    return this.#lastDay(project) - (this.#workspace['keyword_history_days'] as number) + 1;
  }

  #projects(): object {
    const projects = this.#allProjects().sort(
      (a, b) => Date.parse(String(a['created_at'])) - Date.parse(String(b['created_at'])) || byText(a['id'], b['id']),
    );
    return {
      projects: projects.map((row) => ({
        id: row['id'],
        domain: row['domain'],
        property: row['property'],
        country: row['country'],
        language: row['language'],
        syncStatus: row['sync_status'] ?? (row['synced_through'] === null ? 'pending' : 'ok'),
        lastSyncedAt: row['last_synced_at'],
        syncedThrough: row['synced_through'],
        keywordHistoryFrom: text(this.#historyFrom(row)),
        historyBackfilling: row['history_backfilling'],
        trackedKeywords: this.#tracked(row as Project).length,
      })),
    };
  }

  #tracked(project: Project): Row[] {
    return this.#rows(project, 'keywords')
      .filter(({ archived }) => archived !== true)
      .sort((a, b) => byText(a['query'], b['query']) || byText(a['id'], b['id']));
  }

  #keywords(project: Project, query: Query): object {
    const group = query.get('group');
    const groups = this.#rows(project, 'groups');
    if (group !== undefined && !groups.some(({ id }) => id === group)) throw missing();
    const device = oneIn(query, 'device', ['all', 'desktop', 'mobile', 'tablet']) ?? 'all';
    const daily = flagIn(query, 'daily');
    const [limit, offset] = [wholeIn(query, 'limit', 1000, 1, 5000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
    const asked = rangeIn(query, this.#lastDay(project));
    const first = this.#historyFrom(project);
    if (asked.to < first) throw bad('from|to|period');
    const range = { from: Math.max(asked.from, first), to: asked.to };

    const stored = project['synced_through'] === null ? [] : this.#rows(project, 'keyword_daily', range);
    const rowsOf = (id: unknown): Row[] =>
      stored.filter((row) => row['keyword_id'] === id && (device === 'all' || row['device'] === device));
    const members = this.#rows(project, 'group_members');
    const chosen = this.#tracked(project).filter(
      (keyword) =>
        group === undefined || isIn(keyword, group, { groups, members, total: addUp(rowsOf(keyword['id'])) }),
    );
    return {
      range: {
        from: text(range.from),
        to: text(range.to),
        device,
        clamped: asked.from < first,
        provisionalAfter: project['provisional_after'],
      },
      paging: { total: chosen.length, limit, offset },
      keywords: chosen.slice(offset, offset + limit).map((keyword) => {
        const rows = rowsOf(keyword['id']);
        const days = [...new Set(rows.map(({ date }) => String(date)))].sort();
        return {
          id: keyword['id'],
          query: keyword['query'],
          source: keyword['source'],
          trackedSince: keyword['tracked_since'],
          intent: keyword['intent'],
          groupIds: members
            .filter((member) => member['keyword_id'] === keyword['id'])
            .map((member) => member['group_id'])
            .sort(byText),
          metrics: metrics(addUp(rows)),
          ...(daily
            ? { daily: days.map((date) => ({ date, ...metrics(addUp(rows.filter((row) => row['date'] === date))) })) }
            : {}),
        };
      }),
    };
  }

  #groupList(project: Project): object {
    const tracked = new Set(this.#tracked(project).map(({ id }) => id));
    const members = this.#rows(project, 'group_members').filter((member) => tracked.has(member['keyword_id']));
    return {
      groups: this.#inOrder(project, 'groups').map((row) => ({
        id: row['id'],
        name: row['name'],
        kind: row['kind'],
        parentId: row['parent_id'],
        position: row['position'],
        pinned: row['pinned'],
        rule: row['rule'],
        keywordIds:
          row['kind'] === 'manual'
            ? members
                .filter((member) => member['group_id'] === row['id'])
                .map((member) => member['keyword_id'])
                .sort(byText)
            : null,
      })),
    };
  }

  #inOrder(project: Project, table: string): Row[] {
    return this.#rows(project, table).sort(
      (a, b) => (a['position'] as number) - (b['position'] as number) || byText(a['id'], b['id']),
    );
  }

  #pageGroups(project: Project): object {
    return {
      pageGroups: this.#inOrder(project, 'page_groups').map(({ id, name, position, rule, pinned_urls }) => ({
        id,
        name,
        position,
        rule,
        pinnedUrls: pinned_urls,
      })),
    };
  }

  /** Last day of the newest stored month; -Infinity without one. */
  #monthlyThrough(project: Project): number {
    return Math.max(...this.#rows(project, 'country_monthly').map(({ month }) => monthSpan(String(month)).to));
  }

  /** A country on a day: of its month up to the last stored month, after it as stored. */
  #addCountryDay(sum: Sum, project: Project, country: string, day: number): void {
    const isOfCountry = (row: Row): boolean => row['country'] === country;
    if (day <= this.#monthlyThrough(project)) {
      for (const row of this.#rows(project, 'country_monthly').filter(isOfCountry)) {
        const { from, to } = monthSpan(String(row['month']));
        if (from <= day && day <= to) addDayOfMonth(sum, row, day);
      }
    } else {
      for (const row of this.#rows(project, 'country_daily', { from: day, to: day }).filter(isOfCountry))
        addRow(sum, row);
    }
  }

  #site(project: Project, query: Query): object {
    const device = oneIn(query, 'device', ['all', 'desktop', 'mobile', 'tablet']) ?? 'all';
    const country = countryIn(query);
    const range = rangeIn(query, this.#lastDay(project));
    if (country !== null && device !== 'all') throw bad('country');
    const stored = this.#rows(project, 'site_daily').map(({ date }) => number(String(date)));
    const first = Math.max(range.from, Math.min(...stored));
    const last = project['synced_through'] === null ? -Infinity : Math.min(range.to, this.#lastDay(project));
    const totals = zero();
    const daily: object[] = [];
    for (let day = first; day <= last; day++) {
      const sum = zero();
      for (const into of [sum, totals]) {
        if (country !== null) this.#addCountryDay(into, project, country, day);
        else {
          const rows = this.#rows(project, 'site_daily', { from: day, to: day });
          for (const row of rows) if (device === 'all' || row['device'] === device) addRow(into, row);
        }
      }
      daily.push({ date: text(day), ...metrics(sum) });
    }
    return {
      range: {
        from: text(range.from),
        to: text(range.to),
        device,
        country,
        provisionalAfter: project['provisional_after'],
        ...(country === null ? {} : { countryMonthlyThrough: dayOrNull(this.#monthlyThrough(project)) }),
      },
      totals: metrics(totals),
      daily,
    };
  }

  #breakdowns(project: Project, query: Query): object {
    const range = rangeIn(query, this.#lastDay(project));
    const isSynced = project['synced_through'] !== null;
    const rows = (table: string, days?: Days): Row[] => (isSynced ? this.#rows(project, table, days) : []);
    const stored = ['site_daily', 'country_daily', 'appearance_daily', 'brand_daily'].flatMap((table) =>
      rows(table).map(({ date }) => number(String(date))),
    );
    const months = rows('country_monthly').map(({ month }) => monthSpan(String(month)));
    const names = (table: string, column: string): string[] => [
      ...new Set(rows(table).map((row) => String(row[column]))),
    ];
    const totals = (table: string, column: string) =>
      names(table, column)
        .map((name) => ({
          [column]: name,
          ...metrics(addUp(rows(table, range).filter((row) => row[column] === name))),
        }))
        .filter(({ clicks, impressions }) => clicks !== 0 || impressions !== 0);
    const byClicks = (column: string) => (a: Row, b: Row) =>
      descending(a['clicks'] as number, b['clicks'] as number) ||
      descending(a['impressions'] as number, b['impressions'] as number) ||
      byText(a[column], b[column]);
    const countries = [...new Set([...names('country_daily', 'country'), ...names('country_monthly', 'country')])].map(
      (country) => {
        const sum = zero();
        for (let day = range.from; day <= range.to; day++) this.#addCountryDay(sum, project, country, day);
        return { country, ...metrics(sum) };
      },
    );
    const segment = (name: string): Sum => addUp(rows('brand_daily', range).filter((row) => row['segment'] === name));
    const [site, brand, nonBrand] = [addUp(rows('site_daily', range)), segment('brand'), segment('non_brand')];
    const rest = (name: 'clicks' | 'impressions'): number =>
      Math.max(0, Number(site[name] - brand[name] - nonBrand[name]));
    return {
      range: {
        from: text(range.from),
        to: text(range.to),
        availableFrom: dayOrNull(Math.min(...stored, ...months.map(({ from }) => from))),
        availableThrough: dayOrNull(Math.max(...stored, ...months.map(({ to }) => to))),
        provisionalAfter: project['provisional_after'],
        countryMonthlyThrough: isSynced ? dayOrNull(this.#monthlyThrough(project)) : null,
      },
      countries: countries
        .filter(({ clicks, impressions }) => clicks !== 0 || impressions !== 0)
        .sort(byClicks('country')),
      devices: totals('site_daily', 'device').sort(byClicks('device')),
      appearances: totals('appearance_daily', 'appearance').sort(
        (a, b) =>
          descending(a.impressions, b.impressions) ||
          descending(a.clicks, b.clicks) ||
          byText((a as Row)['appearance'], (b as Row)['appearance']),
      ),
      brand: {
        brand: metrics(brand),
        nonBrand: metrics(nonBrand),
        anonymous: { clicks: rest('clicks'), impressions: rest('impressions') },
      },
    };
  }

  #list(project: Project, query: Query, kind: 'pages' | 'queries'): object {
    const country = countryIn(query);
    const [limit, offset] = [wholeIn(query, 'limit', 1000, 1, 25_000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
    const end = dayIn(query, 'to');
    if (end !== undefined && end >= this.#today()) throw bad('to');
    const range = rangeIn(query, Math.min(this.#lastDay(project), this.#today() - 1));
    const [table, column] = kind === 'pages' ? ['page_daily', 'url'] : ['query_daily', 'query'];
    if (this.#rows(project, table).length === 0) throw new Refusal(503, 'unavailable');
    const rows = this.#rows(project, table, range).filter((row) => country === null || row['country'] === country);
    const byName = new Map<string, Sum>();
    for (const row of rows) {
      const name = String(row[column]);
      const sum = byName.get(name) ?? zero();
      addRow(sum, row);
      byName.set(name, sum);
    }
    const list = [...byName]
      .map(([name, sum]) => ({ name, ...metrics(sum) }))
      .sort(
        (a, b) => descending(a.clicks, b.clicks) || descending(a.impressions, b.impressions) || byText(a.name, b.name),
      );
    const terms = (project['brand_terms'] as string[]).map((term) => term.toLowerCase());
    const tracked = this.#tracked(project);
    return {
      range: { from: text(range.from), to: text(range.to), country },
      source: { kind: 'bigquery', fetchedAt: new Date(this.#now).toISOString(), truncated: false, capped: false },
      paging: { total: list.length, limit, offset },
      [kind]: list.slice(offset, offset + limit).map(({ name, ...numbers }) =>
        kind === 'pages'
          ? { url: name, ...numbers }
          : {
              query: name,
              ...numbers,
              branded: terms.some((term) => name.toLowerCase().includes(term)),
              trackedKeywordId:
                tracked.find((keyword) => String(keyword['query']).toLowerCase() === name.toLowerCase())?.['id'] ??
                null,
            },
      ),
    };
  }

  #alerts(project: Project, query: Query): object {
    const status = oneIn(query, 'status', ['open', 'resolved', 'all']) ?? 'all';
    const since = dayIn(query, 'since') ?? -Infinity;
    const limit = wholeIn(query, 'limit', 100, 1, 500);
    const at = (row: Row): number => Date.parse(String(row['created_at']));
    const alerts = this.#rows(project, 'alerts')
      .filter((row) => status === 'all' || (status === 'open') === (row['resolved_at'] === null))
      .filter((row) => at(row) >= since * DAY)
      .sort((a, b) => descending(at(a), at(b)) || byText(a['id'], b['id']));
    return {
      alerts: alerts
        .slice(0, limit)
        .map(({ id, type, kind, severity, title, body, date, keyword_id, url, ...row }) => ({
          id,
          type,
          kind,
          severity,
          title,
          body,
          date,
          keywordId: keyword_id,
          url,
          createdAt: row['created_at'],
          resolvedAt: instantOrNull(row['resolved_at'] as string | null),
        })),
    };
  }

  #notes(project: Project, query: Query): object {
    const [from, to] = [dayIn(query, 'from') ?? -Infinity, dayIn(query, 'to') ?? Infinity];
    const visible = flagIn(query, 'clientVisible');
    if (from > to) throw bad('from');
    const applies = (row: Row): boolean =>
      row['project_id'] === project.id ||
      (row['project_id'] === null && row['workspace_id'] === project['workspace_id']);
    const notes = this.#tables['notes']!.filter(applies)
      .filter((row) => number(String(row['end_date'] ?? row['date'])) >= from && number(String(row['date'])) <= to)
      .filter((row) => !visible || row['client_visible'] === true)
      .sort(
        (a, b) => byText(a['date'], b['date']) || byText(a['created_at'], b['created_at']) || byText(a['id'], b['id']),
      );
    const find = (table: string, id: unknown): Row | undefined =>
      this.#rows(project, table).find((row) => row['id'] === id);
    return {
      notes: notes.map((row) => {
        const group = find('groups', row['group_id']);
        const keyword = find('keywords', row['keyword_id']);
        return {
          id: row['id'],
          scope: row['scope'],
          date: row['date'],
          endDate: row['end_date'],
          category: row['category'],
          text: row['text'],
          clientVisible: row['client_visible'],
          author: row['author'],
          group: group === undefined ? null : { id: group['id'], name: group['name'] },
          keyword: keyword === undefined ? null : { id: keyword['id'], query: keyword['query'] },
          page: row['page'],
          createdAt: row['created_at'],
          updatedAt: row['updated_at'],
        };
      }),
    };
  }
}

function instantOrNull(instant: string | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}

function dayOrNull(day: number): string | null {
  return Number.isFinite(day) ? text(day) : null;
}

// Rules

interface Grouping {
  readonly groups: readonly Row[];
  readonly members: readonly Row[];
  readonly total: Sum;
}

/** Whether a group, or anything below a folder, has a keyword. */
function isIn(keyword: Row, id: unknown, grouping: Grouping): boolean {
  const { groups, members, total } = grouping;
  const group = groups.find((row) => row['id'] === id)!;
  if (group['kind'] === 'folder') {
    return groups.some((child) => child['parent_id'] === id && isIn(keyword, child['id'], grouping));
  }
  if (group['kind'] === 'manual') {
    return members.some((member) => member['group_id'] === id && member['keyword_id'] === keyword['id']);
  }
  const { match, conditions } = group['rule'] as { match: string; conditions: Row[] };
  const holds = (condition: Row): boolean => meets(keyword, total, condition);
  return match === 'all' ? conditions.every(holds) : conditions.some(holds);
}

const TEXT: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  contains: (a, b) => a.includes(b),
  not_contains: (a, b) => !a.includes(b),
  equals: (a, b) => a === b,
  not_equals: (a, b) => a !== b,
  starts_with: (a, b) => a.startsWith(b),
  ends_with: (a, b) => a.endsWith(b),
  matches: (a, b) => new RegExp(b, 'iu').test(a),
};

/** By the sign of the difference. */
const NUMBER: Readonly<Record<string, (difference: bigint) => boolean>> = {
  eq: (difference) => difference === 0n,
  neq: (difference) => difference !== 0n,
  lt: (difference) => difference < 0n,
  lte: (difference) => difference <= 0n,
  gt: (difference) => difference > 0n,
  gte: (difference) => difference >= 0n,
};

function meets(keyword: Row, { clicks, impressions, top, bottom }: Sum, { field, op, value }: Row): boolean {
  const compareText = TEXT[String(op)];
  if (compareText !== undefined) {
    return compareText(String(keyword[String(field)]).toLowerCase(), String(value).toLowerCase());
  }
  const numbers: Readonly<Record<string, readonly [bigint, bigint]>> = {
    clicks: [clicks, 1n],
    impressions: [impressions, 1n],
    ctr: [clicks, impressions],
    position: [top + impressions * bottom, impressions * bottom],
  };
  const [numerator, denominator] = numbers[String(field)]!;
  if (denominator === 0n) return false;
  // Values of rules have two decimals at most.
  return NUMBER[String(op)]!(numerator * 100n - BigInt(Math.round(Number(value) * 100)) * denominator);
}
