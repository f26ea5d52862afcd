// Tools of agents, as answers of the API with another shape.

import type { Random } from '../random.ts';
import type { Row } from '../world.ts';
import { flatRows } from './flat-rows.ts';
import type { Oracle } from './oracle.ts';
import { eventsIn } from './oracle-compare.ts';
import { byText, type Expected, number, text } from './oracle-terms.ts';
import { drawn } from './random-request.ts';
import { TEXTS } from './untidy-world.ts';

export interface Call {
  readonly name: string;
  readonly sent: Readonly<Record<string, string>>;
}
// biome-ignore lint/suspicious/noExplicitAny: parts of answers
type Body = any;

const KINDS = ['queries', 'pages', 'keywords'];

export const TOOL_NAMES = [
  'top_rows',
  'site_performance',
  'breakdowns',
  'surfaces',
  'keyword_history',
  'changes',
  'alerts_and_notes',
  'list_projects',
];

/** A call about a world. */
export function randomCall(dice: Random): Call {
  const project = dice.pick(['Full1', 'Full1', 'Twin1', 'Few01', 'One01', 'Fresh']);
  const kind = dice.pick(KINDS);
  const only = (names: readonly string[], words: Row): Record<string, string> =>
    Object.fromEntries(Object.entries(words).filter(([name]) => names.includes(name))) as Record<string, string>;
  const range = ['from', 'to', 'period', 'compare'];
  const calls: Readonly<Record<string, () => Record<string, string>>> = {
    top_rows: () => ({
      project,
      kind,
      ...only([...range, 'device', 'group', 'country', 'filter', 'sort'], drawn(dice, kind)),
      ...(dice.once(2)
        ? { limit: dice.pick(['1', '5', '24', '26', '1000']), offset: dice.pick(['0', '1', '3', '20']) }
        : {}),
    }),
    site_performance: () => ({
      project,
      ...only([...range, 'device', 'country', 'type', 'interval'], drawn(dice, 'site')),
      ...(dice.once(2) ? { limit: dice.pick(['1', '27', '28', '29']) } : {}),
    }),
    breakdowns: () => ({
      project,
      ...only([...range, 'type'], drawn(dice, 'breakdowns')),
      ...(dice.once(2) ? { limit: dice.pick(['1', '2', '4', '5']) } : {}),
    }),
    surfaces: () => ({ project, ...drawn(dice, 'surfaces') }) as Record<string, string>,
    keyword_history: () => ({
      project: dice.pick(['Full1', 'Few01']),
      keyword: dice.pick([...TEXTS, 'RED SHOES', 'zzzzz', 'x0000']),
      ...only([...range, 'device', 'interval'], drawn(dice, 'keywords')),
      ...(dice.once(2) ? { limit: dice.pick(['1', '5', '486']) } : {}),
    }),
    changes: () => ({
      project,
      kind,
      metric: dice.pick(['clicks', 'impressions', 'ctr', 'position']),
      ...only([...range, 'filter'], drawn(dice, kind)),
      ...(dice.once(2) ? { limit: dice.pick(['1', '2', '3', '5', '100']) } : {}),
    }),
    alerts_and_notes: () => ({
      project,
      ...(dice.once(2) ? { from: '2026-02-20' } : {}),
      ...(dice.once(2) ? { to: '2026-03-02' } : {}),
      ...(dice.once(2) ? { limit: dice.pick(['1', '9', '49', '51']) } : {}),
    }),
    list_projects: () =>
      dice.once(2) ? {} : { limit: dice.pick(['1', '5', '6', '7']), offset: dice.pick(['0', '1', '6']) },
  };
  const name = dice.pick(TOOL_NAMES);
  return { name, sent: calls[name]!() };
}

/** What a tool must answer. */
export function toolAnswer(oracle: Oracle, { name, sent }: Call): Expected {
  const ask = (endpoint: string, parameters: Readonly<Record<string, string>>): Body => {
    const query = new URLSearchParams(parameters).toString().replaceAll('+', '%20');
    const found = oracle.answer(
      `${endpoint === 'projects' ? '' : `/projects/${sent['project']}`}/${endpoint}?${query}`,
    );
    if (!('body' in found)) throw new Refused(found);
    return found.body;
  };
  try {
    const { project: _project, ...rest } = sent;
    return { status: 200, body: TOOLS[name]!(ask, rest) };
  } catch (error) {
    if (error instanceof Refused) return error.expected;
    throw error;
  }
}

class Refused extends Error {
  readonly expected: Expected;

  constructor(expected: Expected) {
    super('refused');
    this.expected = expected;
  }
}

type Ask = (endpoint: string, parameters: Readonly<Record<string, string>>) => Body;

const TOOLS: Readonly<Record<string, (ask: Ask, sent: Readonly<Record<string, string>>) => object>> = {
  top_rows: (ask, { kind = 'queries', limit = '25', offset = '0', ...sent }) => {
    const order = kind === 'keywords' ? { sort: '-clicks' } : {};
    const {
      project,
      range,
      source,
      quality,
      paging,
      [kind]: rows,
    } = ask(kind, { ...order, ...ofKind(kind, sent), quality: '1', limit, offset });
    return {
      project,
      range,
      ...(source ? { source } : {}),
      ...rated(range, quality),
      ...counted(paging.total, offset, rows),
      [kind]: rows,
    };
  },
  site_performance: (ask, { limit = '100', ...sent }) => {
    const { project, range, quality, totals, ...found } = ask('site', { ...sent, quality: '1' });
    const isLong = sent['interval'] === undefined && found.daily.length > Number(limit);
    const daily = isLong ? ask('site', { ...sent, interval: 'week' }).daily : found.daily;
    return {
      project,
      range,
      ...rated(range, quality),
      totals,
      ...series(isLong ? 'week' : (sent['interval'] ?? 'day'), daily, limit),
    };
  },
  keyword_history: (ask, { keyword = '', limit = '100', ...sent }) => {
    const tracked = ask('keywords', {}).keywords as Row[];
    const lower = keyword.toLowerCase();
    const found =
      tracked.find(({ id }) => id === keyword) ?? tracked.find(({ query }) => String(query).toLowerCase() === lower);
    if (found === undefined) throw new Refused({ status: 404, code: 'not_found' });
    const history = (interval: string): Body => {
      const { keywords, ...rest } = ask('keywords', { ...sent, interval, daily: '1', quality: '1' });
      return { ...rest, keyword: keywords.find((row: Row) => row['id'] === found['id']) };
    };
    const days = history(sent['interval'] ?? 'day');
    const isLong = sent['interval'] === undefined && days.keyword.daily.length > Number(limit);
    const { project, range, quality, keyword: row } = isLong ? history('week') : days;
    const { daily, ...totals } = row;
    return {
      project,
      range,
      ...rated(range, quality),
      keyword: totals,
      ...series(isLong ? 'week' : (sent['interval'] ?? 'day'), daily, limit),
    };
  },
  breakdowns: (ask, { limit = '20', ...sent }) => {
    const { project, range, quality, countries, devices, appearances, brand } = ask('breakdowns', {
      ...sent,
      quality: '1',
    });
    const kinds: Record<string, Row[]> = { countries, devices, appearances };
    const each = <T>(of: (rows: Row[]) => T): Record<string, T> =>
      Object.fromEntries(Object.entries(kinds).map(([kind, rows]) => [kind, of(rows)]));
    const shown = (rows: Row[]): Row[] => rows.slice(0, Number(limit));
    return {
      project,
      range,
      ...rated(range, quality),
      total: each(({ length }) => length),
      returned: each((rows) => shown(rows).length),
      brand,
      ...each(shown),
    };
  },
  surfaces: (ask, sent) => ask('surfaces', sent) as object,
  list_projects: (ask, { limit = '100', offset = '0' }) => {
    const { projects } = ask('projects', {});
    const page = projects.slice(Number(offset), Number(offset) + Number(limit));
    return { ...counted(projects.length, offset, page), projects: page };
  },
  alerts_and_notes: (ask, { from, to, limit = '50' }) => {
    const { project, alerts: all } = ask('alerts', { limit: '500', ...(from && { since: from }) });
    const { notes } = ask('notes', { ...(from && { from }), ...(to && { to }) });
    const alerts = all.filter((row: Row) => to === undefined || String(row['createdAt']).slice(0, 10) <= to);
    const shown = { alerts: alerts.slice(0, Number(limit)), notes: notes.slice(-Number(limit)) };
    const sizes = (of: Record<string, Row[]>): object => ({ alerts: of['alerts']!.length, notes: of['notes']!.length });
    return {
      project,
      range: { from: from ?? null, to: to ?? null },
      total: sizes({ alerts, notes }),
      returned: sizes(shown),
      ...shown,
    };
  },
  changes: (ask, { kind = 'queries', metric = 'clicks', limit = '10', ...sent }) => {
    const flat = (parameters: Readonly<Record<string, string>>): { body: Body; rows: Row[] } => {
      const words = { ...parameters, format: 'ndjson', quality: '1' };
      const body = ask(kind, words);
      const rows = flatRows(kind, new URLSearchParams(words), body).rows.map((row) => without(row, /sum_position$/));
      return { body, rows };
    };
    const asked = ofKind(kind, { compare: 'previous', ...sent });
    const { body, rows } = flat(asked);
    const { from, to, comparison } = body.range;
    const then = { from: comparison.from, to: comparison.to };
    const { period: __, ...rest } = sent;
    const reverse = { ...then, compare: `${from}..${to}` };
    const most = Number(limit);
    const sign = metric === 'position' ? -1 : 1;
    const gain = (row: Row): number => sign * Number(row[`change_${metric}`] ?? 0);
    const gained = rows.filter((row) => gain(row) > 0).sort((a, b) => gain(b) - gain(a));
    const lost = rows.filter((row) => gain(row) < 0).sort((a, b) => gain(a) - gain(b));
    const vanished =
      kind === 'keywords'
        ? []
        : flat(ofKind(kind, { ...rest, ...reverse })).rows.filter((row) => row['comparison_impressions'] === 0);
    vanished.sort(
      (a, b) => Number(b['clicks']) - Number(a['clicks']) || Number(b['impressions']) - Number(a['impressions']),
    );
    const before = vanished.slice(0, most).map(({ clicks, impressions, ctr, position, ...row }) => ({
      ...without(row, /^(comparison|change|changeRatio|unsafe)_/),
      ...{
        comparison_clicks: clicks,
        comparison_impressions: impressions,
        comparison_ctr: ctr,
        comparison_position: position,
      },
    }));
    const site = ask('site', { from, to, compare: `${then.from}..${then.to}`, quality: '1' });
    const first = [from, then.from].toSorted(byText)[0]!;
    const events = eventsIn({ from: number(first), to: number(to) });
    return {
      project: body.project,
      range: { from, to, comparison: then },
      ...rated({ from, to }, body.quality),
      events: shortEvents(events),
      site: site.totals,
      kind,
      metric,
      total: rows.length,
      returned: { gained: Math.min(most, gained.length), lost: Math.min(most, lost.length), vanished: before.length },
      gained: gained.slice(0, most),
      lost: lost.slice(0, most),
      vanished: before,
    };
  },
};

const without = (row: Row, names: RegExp): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.test(name)));

/** Keywords have devices and groups, lists have countries. */
function ofKind(
  kind: string,
  { device, group, country, ...sent }: Readonly<Record<string, string>>,
): Record<string, string> {
  if (kind === 'keywords') return { ...sent, ...(device && { device }), ...(group && { group }) };
  return { ...sent, ...(country && { country }) };
}

function counted(total: number, offset: string, rows: readonly Row[]): object {
  const end = Number(offset) + rows.length;
  return { total, returned: rows.length, nextOffset: rows.length > 0 && end < total ? end : null };
}

function series(interval: string, all: readonly Row[], limit: string): object {
  const daily = all.slice(-Number(limit));
  return { interval, total: all.length, returned: daily.length, daily };
}

const shortEvents = (events: readonly Row[]): Row[] =>
  events.map(({ from, to, affects, device }) => ({ from, to, affects, device }));

interface Rated {
  readonly events: readonly Row[];
  readonly finalThrough: string | null;
  readonly daysProvisional: number;
}

/** What an agent is told of the days of a range. */
function rated({ from, to }: { from: string; to: string }, { events, finalThrough, ...known }: Rated): object {
  const first = finalThrough === null ? from : [from, text(number(finalThrough) + 1)].toSorted(byText).at(-1)!;
  const provisional = known.daysProvisional > 0 && first <= to ? { from: first, to } : null;
  return { quality: { finalThrough, provisional, ...known }, events: shortEvents(events) };
}
