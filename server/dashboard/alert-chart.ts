import { keywordDrop } from '../alerts/keyword-drop.ts';
import { readAlertProject } from '../alerts/read-facts.ts';
import { readRuleFigures } from '../alerts/rules.ts';
import { TRAFFIC_DROP_DAYS, trafficDrop } from '../alerts/traffic.ts';
import { type Alert, listAlerts, listEvaluatedAlerts } from '../catalog/alerts.ts';
import { filesOf } from '../catalog/fact-files.ts';
import { isUnknownIn, readKeywordGaps } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { type AlertRule, windowDays } from '../domain/alert-rules.ts';
import { addDays, countDays, type Day, dayOf, eachDay, earlier, WEEK } from '../domain/dates.ts';
import { notFound } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import { daySums } from '../facts/days.ts';
import type { DayMeasures } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import type { PresetSources } from '../presets/preset.ts';

/** Days before the alert, more than any check looks at, and days after it, as long as one stays open. */
const BEFORE = 90;
const AFTER = 35;

interface AlertQuestion {
  readonly project: Project;
  /** Its id, as sent. */
  readonly alert: string;
  readonly signal: AbortSignal;
}

export interface AlertChart {
  /** The evaluated day on which it opened. */
  readonly date: Day;
  readonly metric: AlertRule['metric'];
  /** Each point is of so many days that end on its day. */
  readonly window: number;
  /** A value is null without data. */
  readonly points: readonly { readonly date: Day; readonly value: number | null }[];
  /** What was usual when it opened, and the value beyond which it opens; none where the check compares no numbers. */
  readonly levels: readonly { readonly name: string; readonly value: number }[];
}

/** The weeks around an alert, with its baseline and margin. Throws `not_found`. */
export async function readAlertChart(sources: PresetSources, question: AlertQuestion): Promise<AlertChart> {
  const { project, signal } = question;
  const alerts = await listAlerts(sources.catalog, {
    project: project.id,
    status: 'all',
    since: Number.MIN_SAFE_INTEGER,
    limit: null,
  });
  const alert = alerts.find(({ id }) => id === question.alert);
  if (alert === undefined) throw notFound('The project has no such alert.');
  const date = alert.date ?? dayOf(alert.createdAt / 1000);
  const range = { from: addDays(date, -BEFORE), to: earlier(addDays(date, AFTER), project.syncedThrough ?? date) };
  if (alert.type === 'rule') {
    const chart = await ruleChart(sources, { project, alert, range, date, signal });
    if (chart !== undefined) return { date, ...chart };
  }
  const rows = await readDays(sources, { project, alert, range, signal });
  const days = new Map(rows.map((row) => [row.date, row]));
  const at = countDays(range.from, date) - 1;
  if (alert.keywordId === null) return { date, window: WEEK, ...siteChart(alert, days, range, at) };
  const gaps = await readKeywordGaps(sources.catalog, project.id, range);
  const isKnown = (week: Range): boolean => !isUnknownIn(gaps, alert.keywordId!, week);
  const chart = keywordChart(alert, days, range, at, isKnown);
  return { date, window: WEEK, ...chart };
}

/** What a rule compared, with its limit on the day that it opened; undefined where its subject no longer exists. */
async function ruleChart(
  { catalog, facts }: PresetSources,
  {
    project,
    alert,
    range,
    date,
    signal,
  }: { project: Project; alert: Alert; range: Range; date: Day; signal: AbortSignal },
): Promise<Omit<AlertChart, 'date'> | undefined> {
  const stored = (await listEvaluatedAlerts(catalog, project.id)).find(({ id }) => id === alert.id);
  if (stored === undefined) return undefined;
  // The rule as it was when the alert opened.
  const rule = JSON.parse(stored.basis) as AlertRule;
  const read = await readAlertProject(catalog, project.id, (state, snapshot) =>
    readRuleFigures(snapshot, facts, state, { rule }, { range, signal }),
  );
  if (read === undefined) return undefined;
  const dates = eachDay(range.from, range.to);
  const points = dates.map((day, index) => ({ date: day, value: read[index]?.figure ?? null }));
  const reference = read[dates.indexOf(date)]?.reference ?? null;
  return { metric: rule.metric, window: windowDays(rule), points, levels: levelsOf(rule, reference) };
}

/** @param reference the value of the compared days, null without them */
function levelsOf(rule: AlertRule, reference: number | null): AlertChart['levels'] {
  const { op, value, unit, resolve_at: resolveAt, against } = rule;
  if (against === 'value') {
    const scaled = (level: number): number => (unit === 'percent' ? level / 100 : level);
    const limit = { name: op === 'lt' ? 'Opens below' : 'Opens above', value: scaled(value) };
    return resolveAt === undefined ? [limit] : [limit, { name: 'Resolves at', value: scaled(resolveAt) }];
  }
  if (reference === null) return [];
  const change = unit === 'percent' ? (reference * value) / 100 : value;
  return [
    { name: 'Limit when it opened', value: op === 'falls_by' ? reference - change : reference + change },
    { name: against === 'year' ? 'A year before' : 'Days before', value: reference },
  ];
}

async function readDays(
  { catalog, facts }: PresetSources,
  { project, alert, range, signal }: { project: Project; alert: Alert; range: Range; signal: AbortSignal },
): Promise<DayMeasures[]> {
  if (alert.keywordId === null) {
    const files = await filesOf(catalog, project.id, 'site_daily', range);
    return facts.siteDays({ files, range, signal }, 'all');
  }
  const files = await filesOf(catalog, project.id, 'keyword_all', range);
  return daySums(
    facts,
    { files, range, signal },
    { table: 'keyword_all', test: rowsWith('keyword_id', [alert.keywordId]) },
  );
}

type Days = ReadonlyMap<Day, DayMeasures>;

function siteChart({ type }: Alert, days: Days, range: Range, at: number): Omit<AlertChart, 'date' | 'window'> {
  const values = eachDay(range.from, range.to).map((day) => days.get(day)?.clicks);
  const sums = prefixSums(values.map((value) => value ?? 0));
  const points = weeks(range, (end) => {
    return values.slice(end - WEEK + 1, end + 1).includes(undefined) ? null : sums[end + 1]! - sums[end - WEEK + 1]!;
  });
  const window = values.slice(at - TRAFFIC_DROP_DAYS + 1, at + 1);
  if (type !== 'traffic_drop' || window.includes(undefined)) return { metric: 'clicks', points, levels: [] };
  const { usual } = trafficDrop(window as number[]);
  return {
    metric: 'clicks',
    points,
    levels: [
      { name: 'Usual week', value: usual },
      { name: 'Opens below (80%)', value: 0.8 * usual },
    ],
  };
}

function keywordChart(
  { type }: Alert,
  days: Days,
  range: Range,
  at: number,
  isKnown: (week: Range) => boolean,
): Omit<AlertChart, 'date' | 'window'> {
  const weeksOf = (valueAt: (end: number) => number | null): AlertChart['points'] =>
    weeks(range, valueAt).map(({ date, value }) => {
      return { date, value: isKnown({ from: addDays(date, 1 - WEEK), to: date }) ? value : null };
    });
  const daily = eachDay(range.from, range.to).map((day) => days.get(day));
  const impressions = prefixSums(daily.map((day) => day?.impressions ?? 0));
  const positions = prefixSums(daily.map((day) => day?.sumPosition ?? 0));
  const weekOf = (sums: readonly number[], end: number): number => sums[end + 1]! - sums[end - WEEK + 1]!;
  if (type === 'keyword_lost') {
    return { metric: 'impressions', points: weeksOf((end) => weekOf(impressions, end)), levels: [] };
  }
  const points = weeksOf((end) => {
    const shown = weekOf(impressions, end);
    return shown === 0 ? null : weekOf(positions, end) / shown + 1;
  });
  if (type !== 'keyword_drop') return { metric: 'position', points, levels: [] };
  const { usual, margin } = keywordDrop({ impressions, positions }, at);
  if (!Number.isFinite(usual)) return { metric: 'position', points, levels: [] };
  return {
    metric: 'position',
    points,
    levels: [
      { name: 'Usual position', value: usual },
      { name: 'Opens above', value: usual + margin },
    ],
  };
}

/** A point for each day of a range that ends a week of it. */
function weeks({ from, to }: Range, valueAt: (end: number) => number | null): AlertChart['points'] {
  return eachDay(from, to)
    .map((date, end) => ({ date, value: end < WEEK - 1 ? null : valueAt(end) }))
    .slice(WEEK - 1);
}

/** The sum before each value, and that of all. */
function prefixSums(values: readonly number[]): number[] {
  const sums = [0];
  for (const value of values) sums.push(sums.at(-1)! + value);
  return sums;
}
