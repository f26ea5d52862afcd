// Answers about facts: clicks, impressions and positions.
import type { Row } from '../world.ts';
import { isIn } from './oracle-rules.ts';
import {
  addRow,
  addUp,
  bad,
  byText,
  countryIn,
  type Days,
  dayIn,
  dayOrNull,
  descending,
  flagIn,
  metrics,
  missing,
  monthSpan,
  number,
  oneIn,
  type Query,
  Refusal,
  rangeIn,
  type Sum,
  text,
  wholeIn,
  zero,
} from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

export function keywords(world: OracleWorld, project: Project, query: Query): object {
  const group = query.get('group');
  const groups = world.rows(project, 'groups');
  if (group !== undefined && !groups.some(({ id }) => id === group)) throw missing();
  const device = oneIn(query, 'device', ['all', 'desktop', 'mobile', 'tablet']) ?? 'all';
  const daily = flagIn(query, 'daily');
  const [limit, offset] = [wholeIn(query, 'limit', 1000, 1, 5000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
  const asked = rangeIn(query, world.lastDay(project));
  const first = world.historyFrom(project);
  if (asked.to < first) throw bad('from|to|period');
  const range = { from: Math.max(asked.from, first), to: asked.to };

  const stored = project['synced_through'] === null ? [] : world.rows(project, 'keyword_daily', range);
  const rowsOf = (id: unknown): Row[] =>
    stored.filter((row) => row['keyword_id'] === id && (device === 'all' || row['device'] === device));
  const members = world.rows(project, 'group_members');
  const chosen = world
    .tracked(project)
    .filter(
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

export function site(world: OracleWorld, project: Project, query: Query): object {
  const device = oneIn(query, 'device', ['all', 'desktop', 'mobile', 'tablet']) ?? 'all';
  const country = countryIn(query);
  const range = rangeIn(query, world.lastDay(project));
  if (country !== null && device !== 'all') throw bad('country');
  const stored = world.rows(project, 'site_daily').map(({ date }) => number(String(date)));
  const first = Math.max(range.from, Math.min(...stored));
  const last = project['synced_through'] === null ? -Infinity : Math.min(range.to, world.lastDay(project));
  const totals = zero();
  const daily: object[] = [];
  for (let day = first; day <= last; day++) {
    const sum = zero();
    for (const into of [sum, totals]) {
      if (country !== null) world.addCountryDay(into, project, country, day);
      else {
        const rows = world.rows(project, 'site_daily', { from: day, to: day });
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
      ...(country === null ? {} : { countryMonthlyThrough: dayOrNull(world.monthlyThrough(project)) }),
    },
    totals: metrics(totals),
    daily,
  };
}

export function breakdowns(world: OracleWorld, project: Project, query: Query): object {
  const range = rangeIn(query, world.lastDay(project));
  const isSynced = project['synced_through'] !== null;
  const rows = (table: string, days?: Days): Row[] => (isSynced ? world.rows(project, table, days) : []);
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
      for (let day = range.from; day <= range.to; day++) world.addCountryDay(sum, project, country, day);
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
      countryMonthlyThrough: isSynced ? dayOrNull(world.monthlyThrough(project)) : null,
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

export function list(world: OracleWorld, project: Project, query: Query, kind: 'pages' | 'queries'): object {
  const country = countryIn(query);
  const [limit, offset] = [wholeIn(query, 'limit', 1000, 1, 25_000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
  const end = dayIn(query, 'to');
  if (end !== undefined && end >= world.today()) throw bad('to');
  const range = rangeIn(query, Math.min(world.lastDay(project), world.today() - 1));
  const [table, column] = kind === 'pages' ? ['page_daily', 'url'] : ['query_daily', 'query'];
  if (world.rows(project, table).length === 0) throw new Refusal(503, 'unavailable');
  const rows = world.rows(project, table, range).filter((row) => country === null || row['country'] === country);
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
  const tracked = world.tracked(project);
  return {
    range: { from: text(range.from), to: text(range.to), country },
    source: { kind: 'bigquery', fetchedAt: new Date(world.now).toISOString(), truncated: false, capped: false },
    paging: { total: list.length, limit, offset },
    [kind]: list.slice(offset, offset + limit).map(({ name, ...numbers }) =>
      kind === 'pages'
        ? { url: name, ...numbers }
        : {
            query: name,
            ...numbers,
            branded: terms.some((term) => name.toLowerCase().includes(term)),
            trackedKeywordId:
              tracked.find((keyword) => String(keyword['query']).toLowerCase() === name.toLowerCase())?.['id'] ?? null,
          },
    ),
  };
}
