import { listEvaluatedAlerts, readSyncedDays, type StoredEvaluation } from '../catalog/alerts.ts';
import { filesOf, keywordFilesUntil, readCoverage } from '../catalog/fact-files.ts';
import { listChangedPages } from '../catalog/inspections.ts';
import { readKeywordGaps } from '../catalog/keywords.ts';
import { listSurfaceDays, type SurfaceDays } from '../catalog/sync-days.ts';
import { addDays, countDays, type Day, earlier, pacificDayOf } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { PROVIDER_EVENTS } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import { type AlertChanges, alertChanges, type EvaluatedAlert, type Replayed, storeEvaluation } from './alert.ts';
import { AlertCalendar } from './calendar.ts';
import { NEW_LEVEL, readHourlyInput, replayHours } from './hours.ts';
import { alertsOfIndex, indexRangeUntil, isAboutIndex } from './index-replay.ts';
import { KEYWORD_LOOK_BACK } from './keyword-checks.ts';
import { KeywordReplay, type KeywordStates, keywordsWithPageAlerts } from './keyword-replay.ts';
import {
  type AlertFiles,
  type AlertProject,
  type EvaluationStores,
  lastStoredFinalDay,
  readAlertProject,
  readPageNames,
  readProjectFacts,
} from './read-facts.ts';
import { evaluateRules, type RuleStarts, readRulesFiles } from './rules.ts';
import { alertsOfStaleSurfaces, staleEndedBecause } from './stale-surfaces.ts';
import { TrafficReplay, type TrafficState } from './traffic.ts';

export interface EvaluateOptions {
  /** Evaluates up to this day, if the last final day is later. */
  readonly asOf?: Day;
  /** Settles all days until this one, whose facts are about to be dropped. */
  readonly settleThrough?: Day;
  /** Stores nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly now?: () => number;
  /** The evaluation time of a day in milliseconds, by default now; for alerts of generated demo data. */
  readonly clock?: (day: Day) => number;
}

/** The result of an evaluation. */
export interface Evaluation extends AlertChanges {
  readonly project: string;
  /** The evaluated days. */
  readonly range: Range;
  /** All alerts opened in the range or open before it, in their state after the last day. */
  readonly alerts: readonly EvaluatedAlert[];
}

/** The state after the settled days; plain data. */
interface SettledState {
  /** Facts before the settled day were dropped: it is not evaluated again. */
  readonly isDropped?: true;
  readonly traffic?: TrafficState;
  readonly keywords?: KeywordStates;
}

/** Days before the last final day at which the first evaluation of a project or rule starts. */
const FIRST_DAYS = 42;
/** A longer replay settles all but the newest days; facts of settled days are not evaluated again. */
const MAX_REPLAY = 500;
const REPLAYED_AFTER_SETTLING = 300;

/**
 * Evaluates a project: replays its final days in order and stores the resulting alerts. Unsettled days are evaluated
 * again each time, so the result does not depend on the order in which facts were loaded. Returns undefined if there is
 * nothing to evaluate: no final day, unfinished setup, or newer facts already evaluated.
 */
export async function evaluateProject(
  { catalog, facts }: EvaluationStores,
  id: string,
  {
    asOf,
    settleThrough,
    dryRun = false,
    signal = new AbortController().signal,
    now = Date.now,
    clock = now,
  }: EvaluateOptions = {},
): Promise<Evaluation | undefined> {
  const input = await readAlertProject(catalog, id, async (state, snapshot) => {
    const final = lastStoredFinalDay(state.project, now());
    if (final === undefined) return undefined;
    const range = rangeToReplay(state.evaluation, earlier(asOf ?? final, final));
    const read = { from: addDays(range.from, -KEYWORD_LOOK_BACK), to: range.to };
    const files: AlertFiles = {
      site: await filesOf(snapshot, id, 'site_daily', read),
      keywords: await keywordFilesUntil(snapshot, id, read.to, true),
      pages: await filesOf(snapshot, id, 'keyword_page_daily', read),
    };
    return {
      state,
      range,
      read,
      files,
      stored: await readCoverage(snapshot, id),
      synced: await readSyncedDays(snapshot, id, read),
      gaps: await readKeywordGaps(snapshot, id, read),
      hours: await readHourlyInput(snapshot, state.project, asOf ?? pacificDayOf(now())),
      index: await listChangedPages(snapshot, id),
      surfaces: await listSurfaceDays(snapshot, state.project),
      rules: await readRulesFiles(snapshot, state, { first: firstDay(range.to), to: range.to }),
    };
  });
  if (input === undefined) return undefined;
  const { state, range, read, files } = input;

  const before = stateBefore(state, range);
  const open = keywordsWithPageAlerts(before.keywords);
  const query = { files, range: read, signal, synced: input.synced, gaps: input.gaps, open };
  const { site, keywords } = await readProjectFacts(facts, query, state.keywords);
  const calendar = new AlertCalendar(read, PROVIDER_EVENTS, state.notes);
  const days = { from: calendar.indexOf(range.from), to: calendar.indexOf(range.to) };
  const traffic = new TrafficReplay(site, calendar, before.traffic);
  const replays = { traffic, keywords: new KeywordReplay(keywords, calendar, days, before.keywords) };
  keywords.pages.urls = await readPageNames(facts, query, replays.keywords.keywordsToName());
  const replay = replayProject(replays, calendar, { range, before, settleThrough });
  signal.throwIfAborted();
  const hourly = await replayHours(facts, input.hours, { calendar, signal });
  const rules = await evaluateRules(facts, state, input.rules, signal);
  // Of days that are over, so that one of many pages does not open and become one of a group.
  const yesterday = addDays(pacificDayOf(now()), -1);
  const lastOver = earlier(asOf ?? yesterday, yesterday);
  const indexRange = indexRangeUntil(lastOver);
  const index = alertsOfIndex(input.index, indexRange, calendar);
  const stale = alertsOfStaleSurfaces(input.surfaces, lastOver);

  const alerts = [...replay.alerts, ...hourly, ...index, ...stale, ...rules.alerts];
  const firstStored = Object.values(input.stored)
    .map((table) => table.firstDay)
    .reduce(earlier, range.to);
  const replayed: Replayed = {
    alerts,
    through: range.to,
    covers: ({ type, subject, date, resolvedAt }) => {
      // The facts of a resolved alert may have been dropped since.
      if (resolvedAt !== null && date < firstStored) return false;
      if (type === 'hourly_stop') return date >= input.hours.covered;
      if (isAboutIndex(type)) return date >= indexRange.from;
      return date >= (type === 'rule' ? rules.starts[subject]!.from : range.from);
    },
    endedBecause: endedBecause(state, {
      starts: rules.starts,
      hoursFrom: input.hours.covered,
      surfaces: input.surfaces,
    }),
  };
  const at = toMicroseconds(now());
  const changesOf = (stored: Parameters<typeof alertChanges>[1]): AlertChanges => {
    return alertChanges(id, stored, replayed, (day) => toMicroseconds(clock(day)));
  };
  const outcome = { project: id, range, alerts };
  if (dryRun) return { ...outcome, ...changesOf(await listEvaluatedAlerts(catalog, id)) };
  const evaluation: StoredEvaluation = {
    settledThrough: replay.settled,
    evaluatedThrough: range.to,
    state: JSON.stringify(replay.state),
    rules: JSON.stringify(rules.starts),
    factsRevision: state.project.factsRevision,
    entitiesRevision: state.project.entitiesRevision,
  };
  const changes = await storeEvaluation(catalog, id, evaluation, changesOf, at);
  return changes && { ...outcome, ...changes };
}

/** The days to replay for an evaluation through `to`. */
function rangeToReplay(evaluation: AlertProject['evaluation'], to: Day): Range {
  const first = firstDay(to);
  if (evaluation === undefined) return { from: first, to };
  const unsettled = addDays(evaluation.settledThrough, 1);
  const { isDropped = false } = JSON.parse(evaluation.state) as SettledState;
  return { from: isDropped && unsettled <= to ? unsettled : earlier(first, unsettled), to };
}

function firstDay(last: Day): Day {
  return addDays(last, -FIRST_DAYS);
}

/** The settled state, if the range starts with the first unsettled day. */
function stateBefore({ evaluation }: AlertProject, { from }: Range): SettledState {
  if (evaluation === undefined || addDays(evaluation.settledThrough, 1) !== from) return {};
  return JSON.parse(evaluation.state) as SettledState;
}

function replayProject(
  { traffic, keywords }: { traffic: TrafficReplay; keywords: KeywordReplay },
  calendar: AlertCalendar,
  { range, before, settleThrough }: { range: Range; before: SettledState; settleThrough: Day | undefined },
): { alerts: EvaluatedAlert[]; settled: Day; state: SettledState } {
  const isLong = countDays(range.from, range.to) > MAX_REPLAY;
  const usual = isLong ? addDays(range.to, -REPLAYED_AFTER_SETTLING) : addDays(range.from, -1);
  // At least one day is left to replay.
  const dropped = settleThrough && earlier(settleThrough, addDays(range.to, -1));
  const isDropped = dropped !== undefined && dropped > usual;
  const settled = isDropped ? dropped : usual;
  let state = before;
  for (let day = calendar.indexOf(range.from); day <= calendar.indexOf(range.to); day++) {
    traffic.run(day);
    keywords.run(day);
    if (calendar.dayAt(day) !== settled) continue;
    state = { traffic: traffic.state(), keywords: keywords.states(), ...(isDropped ? { isDropped } : {}) };
  }
  return { alerts: [...traffic.alerts, ...keywords.alerts], settled, state };
}

/** @param hoursFrom alerts about hours that opened before have expired */
function endedBecause(
  { keywords, rules }: AlertProject,
  { starts, hoursFrom, surfaces }: { starts: RuleStarts; hoursFrom: Day; surfaces: readonly SurfaceDays[] },
): Replayed['endedBecause'] {
  const byId = new Map(keywords.map((keyword) => [keyword.id, keyword]));
  return ({ type, subject, basis, date, keywordId }) => {
    if (type === 'hourly_stop') return date < hoursFrom ? NEW_LEVEL : undefined;
    if (isAboutIndex(type)) return undefined;
    if (type === 'surface_stale') return staleEndedBecause({ subject, basis }, surfaces);
    if (type === 'rule') {
      const rule = rules.find(({ id }) => id === subject);
      if (rule === undefined) return 'the rule was removed';
      if (!rule.enabled) return 'the rule is switched off';
      const start = starts[subject];
      if (start === undefined) return 'what the rule is about no longer exists';
      return start.basis === basis ? undefined : 'the rule was changed';
    }
    if (keywordId === null) return undefined;
    const keyword = byId.get(keywordId);
    if (keyword === undefined) return 'the keyword is no longer tracked';
    return type !== 'url_mismatch' || keyword.targetUrl === basis ? undefined : 'another page should rank now';
  };
}
