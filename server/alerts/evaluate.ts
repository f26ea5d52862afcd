import type { Catalog } from '../catalog/catalog.ts';
import { listEvaluatedAlerts, readSyncedDays, type StoredEvaluation } from '../catalog/evaluations.ts';
import { filesOf, keywordFilesUntil } from '../catalog/manifest.ts';
import { addDays, countDays, type Day, earlier } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { PROVIDER_EVENTS } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { EvaluatedAlert } from './alert.ts';
import { AlertCalendar } from './calendar.ts';
import { KEYWORD_LOOK_BACK } from './keyword-checks.ts';
import { KeywordReplay, type KeywordStates, keywordsWithPageAlerts } from './keyword-replay.ts';
import { type AlertProject, lastFinalDay, readAlertProject } from './project-state.ts';
import { type AlertFiles, readPageNames, readProjectFacts } from './read-facts.ts';
import { evaluateRules, type RuleStarts, readRulesFiles } from './rules.ts';
import { type AlertChanges, alertChanges, type Replayed, storeEvaluation } from './store.ts';
import { TrafficReplay, type TrafficState } from './traffic-replay.ts';

export interface EvaluationStores {
  readonly catalog: Catalog;
  readonly facts: Facts;
}

export interface EvaluateOptions {
  /** Stands for the last final day, where that is later. */
  readonly asOf?: Day;
  /** Changes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly now?: () => number;
  /** When a day is evaluated, in milliseconds; now unless given. Made-up histories are told as if they had been lived. */
  readonly clock?: (day: Day) => number;
}

/** What an evaluation found. */
export interface Evaluation extends AlertChanges {
  readonly project: string;
  /** The evaluated days. */
  readonly range: Range;
  /** All alerts of these days, and those that were open before, as they are after the last of them. */
  readonly alerts: readonly EvaluatedAlert[];
}

/** What is known at the end of the settled days; plain data. */
interface SettledState {
  readonly traffic?: TrafficState;
  readonly keywords?: KeywordStates;
}

/** Days before the last final one with which the first evaluation of a project, or of a rule, begins. */
const FIRST_DAYS = 42;
/** A replay of more days than this settles all but the last of them: their facts are not looked at again. */
const MAX_REPLAY = 500;
const REPLAYED_AFTER_SETTLING = 300;

/**
 * Evaluates a project: replays its final days, in order, from the first evaluated one on, and stores the alerts that
 * these have. Days are evaluated again as long as they are not settled, so that it does not matter in which order their
 * facts came. Undefined where there is nothing to evaluate: no final day, setup not finished, or newer facts evaluated.
 */
export async function evaluateProject(
  { catalog, facts }: EvaluationStores,
  id: string,
  { asOf, dryRun = false, signal = new AbortController().signal, now = Date.now, clock = now }: EvaluateOptions = {},
): Promise<Evaluation | undefined> {
  const input = await readAlertProject(catalog, id, async (state, own) => {
    const final = lastFinalDay(state.project, now());
    if (final === undefined) return undefined;
    const range = rangeToReplay(state.evaluation, earlier(asOf ?? final, final));
    const read = { from: addDays(range.from, -KEYWORD_LOOK_BACK), to: range.to };
    const files: AlertFiles = {
      site: await filesOf(own, id, 'site_daily', read),
      keywords: await keywordFilesUntil(own, id, read.to, true),
      pages: await filesOf(own, id, 'keyword_page_daily', read),
    };
    return {
      state,
      range,
      read,
      files,
      synced: await readSyncedDays(own, id, read),
      rules: await readRulesFiles(own, state, { first: firstDay(range.to), to: range.to }),
    };
  });
  if (input === undefined) return undefined;
  const { state, range, read, files } = input;

  const before = stateBefore(state, range);
  const query = { files, range: read, signal, synced: input.synced, open: keywordsWithPageAlerts(before.keywords) };
  const { site, keywords } = await readProjectFacts(facts, query, state.keywords);
  const calendar = new AlertCalendar(read, PROVIDER_EVENTS, state.notes);
  const places = { from: calendar.placeOf(range.from), to: calendar.placeOf(range.to) };
  const traffic = new TrafficReplay(site, calendar, before.traffic);
  const replays = { traffic, keywords: new KeywordReplay(keywords, calendar, places, before.keywords) };
  keywords.pages.urls = await readPageNames(facts, query, replays.keywords.keywordsToName());
  const replay = replayProject(replays, calendar, { range, before });
  signal.throwIfAborted();
  const rules = await evaluateRules(facts, state, input.rules, signal);

  const alerts = [...replay.alerts, ...rules.alerts];
  const replayed: Replayed = {
    alerts,
    through: range.to,
    covers: ({ type, subject, date }) => date >= (type === 'rule' ? rules.starts[subject]!.from : range.from),
    endedBecause: endedBecause(state, rules.starts),
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

/** The days to replay so that the last of them is evaluated. */
function rangeToReplay(evaluation: AlertProject['evaluation'], to: Day): Range {
  const first = firstDay(to);
  return { from: evaluation === undefined ? first : earlier(first, addDays(evaluation.settledThrough, 1)), to };
}

function firstDay(last: Day): Day {
  return addDays(last, -FIRST_DAYS);
}

/** What was known before a range, where it begins with the first day that is not settled. */
function stateBefore({ evaluation }: AlertProject, { from }: Range): SettledState {
  if (evaluation === undefined || addDays(evaluation.settledThrough, 1) !== from) return {};
  return JSON.parse(evaluation.state) as SettledState;
}

function replayProject(
  { traffic, keywords }: { traffic: TrafficReplay; keywords: KeywordReplay },
  calendar: AlertCalendar,
  { range, before }: { range: Range; before: SettledState },
): { alerts: EvaluatedAlert[]; settled: Day; state: SettledState } {
  const isLong = countDays(range.from, range.to) > MAX_REPLAY;
  const settled = isLong ? addDays(range.to, -REPLAYED_AFTER_SETTLING) : addDays(range.from, -1);
  let state = before;
  for (let day = calendar.placeOf(range.from); day <= calendar.placeOf(range.to); day++) {
    traffic.run(day);
    keywords.run(day);
    if (calendar.dayAt(day) === settled) state = { traffic: traffic.state(), keywords: keywords.states() };
  }
  return { alerts: [...traffic.alerts, ...keywords.alerts], settled, state };
}

function endedBecause({ keywords, rules }: AlertProject, starts: RuleStarts): Replayed['endedBecause'] {
  const byId = new Map(keywords.map((keyword) => [keyword.id, keyword]));
  return ({ type, subject, basis, keywordId }) => {
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
