import { type TSchema, Type } from 'typebox';
import type { Project } from '../catalog/projects.ts';
import { readRankingRecord } from '../catalog/ranking-updates.ts';
import { countDays, type Day, earlier } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { lastDayOfData } from '../domain/project-ranges.ts';
import { spanOf } from '../domain/range.ts';
import { rankingUpdatesIn } from '../domain/ranking-updates.ts';
import { type WindowLengths, windowsOf } from '../effects/windows.ts';
import { answerOf } from './effect-answer.ts';
import { planClicks, readClicks } from './effect-clicks.ts';
import { EFFECT_IDS, findSubject, requireIds, type SubjectQuery } from './effect-subject.ts';
import { exactText } from './joint-lists.ts';
import { choice, day, formatParameters, type Parameter, readParameters, repeatable } from './parameters.ts';
import { trackedReport } from './report.ts';

const MAX_PAGES = 100;

function length(
  fallback: string,
  minimum: number,
  maximum: number,
  description: string,
): Parameter<TSchema, number> & { fallback: number } {
  const expected = `${minimum}d to ${maximum}d`;
  return {
    schema: Type.String({ pattern: '^[0-9]{1,3}d$', default: fallback, description: `${description} ${expected}.` }),
    expected,
    decode: (text) => {
      const days = /^\d{1,3}d$/.test(text) ? Number.parseInt(text, 10) : Number.NaN;
      return days >= minimum && days <= maximum ? days : undefined;
    },
    fallback: Number.parseInt(fallback, 10),
  };
}

const parameters = {
  ...EFFECT_IDS,
  date: day('The day of the change, with one of page, pageGroup, keyword and group. It may lie in the future.'),
  page: repeatable(exactText('The address of a changed page; may be sent for each of several.'), MAX_PAGES),
  before: length('56d', 28, 182, 'Days before the change to compare with:'),
  settle: length('7d', 0, 28, 'Days from the change on that are left out:'),
  after: length('28d', 7, 91, 'Days after these, which are judged:'),
  metric: choice('EffectMetric', ['clicks'], 'clicks', 'What is judged.'),
  ...formatParameters,
};

/** The lengths of windows that a request does not name. */
export const USUAL_LENGTHS: WindowLengths = {
  before: parameters.before.fallback,
  settle: parameters.settle.fallback,
  after: parameters.after.fallback,
};

interface EffectsQuery {
  readonly subject: SubjectQuery;
  /** Null for that of the note. */
  readonly date: Day | null;
  readonly lengths: WindowLengths;
}

/** Whether clicks of pages or keywords differ, after a change, from what others of the project make expect. */
export const effectsReport = trackedReport({
  operation: 'getEffects',
  parameters,
  parse: (sent): EffectsQuery => {
    const {
      date = null,
      before,
      settle,
      after,
      page,
      note,
      pageGroup,
      keyword,
      group,
    } = readParameters(parameters, sent);
    const lengths = { before, settle, after };
    const named = Object.entries({ page, pageGroup, keyword, group }).filter(([, value]) => value !== undefined);
    if (note !== undefined) {
      const [other] = date === null ? named : [['date'], ...named];
      if (other)
        throw invalidRequest(
          `${other[0]} cannot be combined with note, which has a day and a subject; send one of them.`,
        );
      return { subject: { kind: 'note', id: note }, date, lengths };
    }
    if (date === null)
      throw invalidRequest('date is missing: send note, or date and one of page, pageGroup, keyword and group.');
    const [first, second] = named;
    if (first === undefined)
      throw invalidRequest('page is missing: with date, send one of page, pageGroup, keyword and group.');
    if (second !== undefined)
      throw invalidRequest(`${second[0]} cannot be combined with ${first[0]}; send one of them.`);
    if (page !== undefined) return { subject: { kind: 'page', pages: [...new Set(page)].sort() }, date, lengths };
    return { subject: { kind: first[0] as 'keyword', id: String(first[1]) }, date, lengths };
  },
  checkIds: (sent, project, catalog) => requireIds(sent, project, catalog),
  plan: async (query, { catalog, project, tracked }, { now }) => {
    const found = await findSubject(catalog, project, tracked, query.subject);
    const date = query.date ?? found.date!;
    const windows = windowsOf(date, query.lengths);
    const span = spanOf([windows.before, windows.after]);
    const final = lastFinalDay(project, now());
    const clicks =
      found.table === null ? undefined : await planClicks(catalog, project, found, { span, final, now: now() });
    const { syncedThrough } = project;
    const rankings = rankingUpdatesIn(await readRankingRecord(catalog), [span], { surface: 'web', syncedThrough });
    return { project, tracked, found, date, lengths: query.lengths, windows, span, final, clicks, rankings };
  },
  run: async (plan, { facts, trackedCache }, { signal }) => {
    const { clicks: files, found, tracked, date, lengths, windows } = plan;
    const clicks =
      files && (await readClicks(facts, trackedCache, { ...files, found, tracked, date, windows, signal }));
    const elapsed = Math.min(lengths.after, Math.max(0, countDays(windows.after.from, plan.final)));
    return answerOf({ ...plan, clicks, elapsed });
  },
});

export type EffectsResult = Awaited<ReturnType<typeof effectsReport.run>>;

/** The last day of a project whose clicks stay as they are. */
export function lastFinalDay(project: Project, now: number): Day {
  const last = lastDayOfData(project, now);
  return earlier(project.provisionalAfter ?? last, last);
}
