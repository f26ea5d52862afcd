import { readSyncedDays, type StoredRule, type SyncedDays, type SyncedTables } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { filesOf } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type AlertRule, windowDays } from '../domain/alert-rules.ts';
import { addDays, type Day, eachDay, earlier } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import { type Group, pagesOf } from '../domain/groups.ts';
import { metricOf } from '../domain/predicate.ts';
import { PROVIDER_EVENTS } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import { daySums, undividedDays } from '../facts/days.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import type { StoredTable } from '../model/tables.ts';
import { groupMembers, planTotals, readTotals, type TotalsPlan } from '../query/keyword-totals.ts';
import { inTurns } from '../runtime/turns.ts';
import type { StoredFile } from '../storage/file-store.ts';
import {
  countTowardsEnd,
  countTowardsOpening,
  type EvaluatedAlert,
  newState,
  open,
  type Severity,
  type SubjectState,
} from './alert.ts';
import { AlertCalendar, type DailySums, type StoredDays, windowMeasures } from './calendar.ts';
import {
  type AlertProject,
  dailySums,
  daysOf,
  type EvaluationStores,
  lastStoredFinalDay,
  readAlertProject,
  storedDays,
} from './read-facts.ts';
import { userRuleText } from './texts.ts';

/** The first evaluated day of each rule, and its definition at that time. */
export type RuleStarts = Readonly<Record<string, { readonly basis: string; readonly from: Day }>>;

/** A rule to evaluate, with its files. */
interface RuleInput {
  readonly stored: StoredRule;
  readonly basis: string;
  /** The first day to evaluate. */
  readonly from: Day;
  readonly files: RuleFiles;
}

/**
 * The enabled rules of a project with their files. New and changed rules start with `first`, others with their previous
 * first day.
 */
export async function readRulesFiles(
  tx: Catalog,
  state: AlertProject,
  { first, to }: { first: Day; to: Day },
): Promise<RuleInput[]> {
  const known = JSON.parse(state.evaluation?.rules ?? '{}') as RuleStarts;
  const inputs: RuleInput[] = [];
  for (const stored of state.rules.filter(({ enabled }) => enabled)) {
    const basis = JSON.stringify(stored.rule);
    const start = known[stored.id];
    const from = start?.basis === basis ? earlier(start.from, first) : first;
    inputs.push({ stored, basis, from, files: await filesFrom(tx, state, stored, { from, to }) });
  }
  return inputs;
}

/** Replays rules from their first day. Rules whose subject no longer exists have no start. */
export async function evaluateRules(
  facts: Facts,
  state: AlertProject,
  inputs: readonly RuleInput[],
  signal: AbortSignal,
): Promise<{ alerts: EvaluatedAlert[]; starts: RuleStarts }> {
  const alerts: EvaluatedAlert[] = [];
  const starts: Record<string, { basis: string; from: Day }> = {};
  for (const { stored, basis, from, files } of inputs) {
    const subject = await readRuleSubject(facts, state, files, stored, signal);
    if (subject === undefined) continue;
    starts[stored.id] = { basis, from };
    const calendar = new AlertCalendar(files.range, PROVIDER_EVENTS, state.notes);
    const days = { from: calendar.indexOf(from), to: calendar.length - 1 };
    alerts.push(...replayRule({ ...stored, about: subject.about }, { sums: subject.sums, calendar }, days));
  }
  return { alerts, starts };
}

/** The days of a range on which a rule would have opened an alert. Throws if its subject does not exist. */
async function testRule(
  tx: Catalog,
  facts: Facts,
  state: AlertProject,
  stored: StoredRule,
  { range, signal }: { range: Range; signal: AbortSignal },
): Promise<Day[]> {
  const files = await filesFrom(tx, state, stored, range);
  const subject = await readRuleSubject(facts, state, files, stored, signal);
  if (subject === undefined) throw new Error(`The ${stored.rule.scope} '${stored.rule.id}' does not exist.`);
  const calendar = new AlertCalendar(files.range, PROVIDER_EVENTS, []);
  const days = { from: calendar.indexOf(range.from), to: calendar.length - 1 };
  const alerts = replayRule({ ...stored, about: subject.about }, { sums: subject.sums, calendar }, days);
  return alerts.map(({ date }) => date);
}

/** What a rule compares on each day of a range, undefined where it has no result and if its subject no longer exists. */
export async function readRuleFigures(
  tx: Catalog,
  facts: Facts,
  state: AlertProject,
  stored: Pick<StoredRule, 'rule'>,
  { range, signal }: { range: Range; signal: AbortSignal },
): Promise<(UserRuleResult | undefined)[] | undefined> {
  const files = await filesFrom(tx, state, stored, range);
  const subject = await readRuleSubject(facts, state, files, stored, signal);
  if (subject === undefined) return undefined;
  const before = lookBackOf(stored.rule);
  return eachDay(range.from, range.to).map((_, index) => userRule(stored.rule, subject.sums, before + index));
}

function filesFrom(
  tx: Catalog,
  { project }: AlertProject,
  { rule }: Pick<StoredRule, 'rule'>,
  { from, to }: { from: Day; to: Day },
): Promise<RuleFiles> {
  return readRuleFiles(tx, project, { from: addDays(from, -lookBackOf(rule)), to });
}

/** The days of the year up to the last final day on which a rule would have opened an alert. */
export async function testRuleOfProject(
  { catalog, facts }: EvaluationStores,
  rule: StoredRule,
  { now, signal = new AbortController().signal }: { now: number; signal?: AbortSignal },
): Promise<{ range: Range; days: Day[] }> {
  const outcome = await readAlertProject(catalog, rule.projectId, async (state, snapshot) => {
    const to = lastStoredFinalDay(state.project, now);
    if (to === undefined) return undefined;
    const range = { from: addDays(to, -364), to };
    return { range, days: await testRule(snapshot, facts, state, rule, { range, signal }) };
  });
  if (outcome === undefined) throw new KnownError('conflict', `The project '${rule.projectId}' has no final day yet.`);
  return outcome;
}

/** The files that rules are evaluated from. */
interface RuleFiles {
  readonly range: Range;
  readonly site: readonly StoredFile[];
  readonly keywords: readonly StoredFile[];
  readonly pages: readonly StoredFile[];
  readonly synced: SyncedTables;
  /** The totals of keywords through the last day, for groups by rule, and the days on which keywords are unknown. */
  readonly totals: TotalsPlan;
}

/** The subject of a rule: its name in texts, and its daily sums. */
interface RuleSubject {
  readonly about: string;
  readonly sums: DailySums;
}

/** Days over which groups by rule select their members: the default range of the API. */
const MEMBERS_RANGE = 28;

async function readRuleFiles(snapshot: Catalog, project: Project, range: Range): Promise<RuleFiles> {
  const files = (table: StoredTable): Promise<StoredFile[]> => filesOf(snapshot, project.id, table, range);
  return {
    range,
    site: await files('site_daily'),
    keywords: await files('keyword_all'),
    pages: await files('page_daily'),
    synced: await readSyncedDays(snapshot, project.id, range),
    totals: await planTotals(snapshot, project, range),
  };
}

/** Reads the daily sums of the subject of a rule; undefined if it no longer exists. */
async function readRuleSubject(
  facts: Facts,
  state: AlertProject,
  files: RuleFiles,
  { rule: { scope, id } }: Pick<StoredRule, 'rule'>,
  signal: AbortSignal,
): Promise<RuleSubject | undefined> {
  const { range, synced, totals } = files;
  const queryOf = (table: 'site' | 'keywords' | 'pages'): FactsQuery => ({ files: files[table], range, signal });
  const site = await facts.siteDays(queryOf('site'), 'all');
  const published = site.map(({ date }) => date);
  const undivided = undividedDays(await facts.siteDevices(queryOf('site')));
  const subject = (about: string, rows: readonly DayMeasures[], stored: StoredDays): RuleSubject => {
    return { about, sums: dailySums(range, rows, stored) };
  };
  const stored = async (query: FactsQuery, known: SyncedDays, unknown: readonly Range[] = []): Promise<StoredDays> =>
    storedDays(range, published, await facts.storedDays(query), known, undivided, unknown);
  if (scope === 'site') return subject('the site', site, daysOf(range, new Set(published), synced.site_daily));
  if (scope === 'page_group') {
    const group = state.pageGroups.find((each) => each.id === id);
    if (group === undefined) return undefined;
    const query = queryOf('pages');
    const urls = await inTurns(pagesOf(group, await facts.pageUrls(query)), signal);
    return subject(
      `page group "${group.name}"`,
      await daySums(facts, query, { table: 'page_daily', test: rowsWith('url', urls) }),
      await stored(query, synced.page_daily),
    );
  }
  const query = queryOf('keywords');
  const days = (ids: readonly string[]): Promise<StoredDays> =>
    stored(
      query,
      synced.keyword_daily,
      ids.flatMap((member) => totals.gaps.get(member) ?? []),
    );
  const sumsOf = (ids: readonly string[]): Promise<DayMeasures[]> =>
    daySums(facts, query, { table: 'keyword_all', test: rowsWith('keyword_id', ids) });
  if (scope === 'keyword') {
    const keyword = state.keywords.find((each) => each.id === id);
    return keyword && subject(`"${keyword.query}"`, await sumsOf([keyword.id]), await days([keyword.id]));
  }
  const group = state.tracked.groups.find((each) => each.id === id);
  if (group === undefined) return undefined;
  const members = await currentMembers(facts, state, files, group, signal);
  return subject(`group "${group.name}"`, await sumsOf(members), await days(members));
}

async function currentMembers(
  facts: Facts,
  { tracked, cache }: AlertProject,
  { totals, range: { to } }: RuleFiles,
  group: Group,
  signal: AbortSignal,
): Promise<string[]> {
  const range = { from: addDays(to, 1 - MEMBERS_RANGE), to };
  const measures = await readTotals(facts, totals, range, tracked, signal);
  return (await groupMembers(cache, tracked, group, measures)).map(({ id }) => id);
}

/** A user rule with the name of its subject. */
interface NamedRule {
  readonly id: string;
  readonly name: string;
  readonly rule: AlertRule;
  readonly severity: Severity;
  /** Such as `the site` or `"boots"`. */
  readonly about: string;
}

interface RuleFacts {
  readonly sums: DailySums;
  readonly calendar: AlertCalendar;
}

/** The alerts of a rule over a range of days, evaluated in order. */
function replayRule(named: NamedRule, facts: RuleFacts, { from, to }: { from: number; to: number }): EvaluatedAlert[] {
  const { rule } = named;
  const { calendar } = facts;
  const alerts: EvaluatedAlert[] = [];
  const lifecycle = { opensAfter: rule.for ?? 1, resolvesAfter: 1, expiresAfter: null };
  let state: SubjectState<null> = newState();
  for (let day = from; day <= to; day++) {
    const result = resultOf(rule, facts, day);
    if (state.open === null) {
      if (!countTowardsOpening(lifecycle, state, result?.opens ?? false)) continue;
      open(state, day, null);
      alerts.push(alertOf(named, result!, calendar, day));
      continue;
    }
    if (countTowardsEnd(lifecycle, state.open, day, result?.isBack) === undefined) continue;
    const alert = alerts.at(-1)!;
    alert.resolvedOn = calendar.dayAt(day);
    alert.body += calendar.resolved(day, 'its condition no longer holds');
    state = newState();
  }
  return alerts;
}

function resultOf(rule: AlertRule, { sums, calendar }: RuleFacts, day: number): UserRuleResult | undefined {
  const from = day - lookBackOf(rule);
  if (from < 0) return undefined;
  // Provider events do not affect clicks.
  if (rule.metric !== 'clicks' && calendar.crossesEvent(from, day)) return undefined;
  return userRule(rule, sums, day);
}

function alertOf(
  { id, name, rule, severity, about }: NamedRule,
  result: UserRuleResult,
  calendar: AlertCalendar,
  day: number,
): EvaluatedAlert {
  const date = calendar.dayAt(day);
  const keywordId = rule.scope === 'keyword' ? rule.id! : null;
  const { title, body } = userRuleText(name, { rule, about }, result, date);
  return {
    type: 'rule',
    subject: id,
    basis: JSON.stringify(rule),
    severity,
    title,
    body: body + calendar.notesAbout(day, keywordId),
    date,
    keywordId,
    resolvedOn: null,
  };
}

/** The same weekdays a year before. */
const YEAR = 364;

export interface UserRuleResult {
  /** The value of the window, unrounded. */
  readonly figure: number;
  /** The value of the reference window; null for rules that compare with a fixed value. */
  readonly reference: number | null;
  readonly opens: boolean;
  /** Whether an open alert resolves. */
  readonly isBack: boolean;
}

/** Days before the evaluated day that a rule reads. */
function lookBackOf(rule: AlertRule): number {
  return windowDays(rule) - 1 + referenceOffset(rule);
}

/** Days from the reference window to the evaluated window; 0 without a reference window. */
function referenceOffset(rule: AlertRule): number {
  if (rule.against === 'value') return 0;
  return rule.against === 'year' ? YEAR : windowDays(rule);
}

/** Evaluates a rule on a day; undefined if days are missing or values cannot be compared. */
function userRule(rule: AlertRule, sums: DailySums, day: number): UserRuleResult | undefined {
  const days = windowDays(rule);
  const measures = windowMeasures(sums, day - days + 1, day);
  if (measures === undefined || measures.impressions < (rule.min_impressions ?? 0)) return undefined;
  const figure = metricOf(measures, rule.metric);
  if (figure === undefined) return undefined;
  if (rule.against === 'value') {
    const compared = rule.unit === 'percent' ? figure * 100 : figure;
    return { figure, reference: null, ...judge(rule, compared) };
  }
  const last = day - referenceOffset(rule);
  const before = windowMeasures(sums, last - days + 1, last);
  const reference = before && metricOf(before, rule.metric);
  if (reference === undefined) return undefined;
  const change = rule.op === 'falls_by' ? reference - figure : figure - reference;
  if (rule.unit === 'percent' && reference === 0) return undefined;
  return { figure, reference, ...judge(rule, rule.unit === 'percent' ? (change / reference) * 100 : change) };
}

function judge(rule: AlertRule, compared: number): Pick<UserRuleResult, 'opens' | 'isBack'> {
  const opens = holds(rule, compared);
  if (rule.resolve_at === undefined) return { opens, isBack: !opens };
  return { opens, isBack: rule.op === 'lt' ? compared >= rule.resolve_at : compared <= rule.resolve_at };
}

function holds({ op, value }: AlertRule, compared: number): boolean {
  if (op === 'lt') return compared < value;
  if (op === 'gt') return compared > value;
  // Tolerance for floating-point errors: a change by exactly the value counts.
  return compared >= value - 1e-9 * Math.abs(value);
}
