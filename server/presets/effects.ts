import { type TSchema, Type } from 'typebox';
import { type Note, readRankingRecord } from '../catalog/alerts.ts';
import type { Project } from '../catalog/projects.ts';
import { countDays, type Day, earlier } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { lastDayOfData } from '../domain/project-ranges.ts';
import { spanOf } from '../domain/range.ts';
import { rankingUpdatesIn } from '../domain/ranking-updates.ts';
import { type WindowLengths, windowsOf } from '../effects/scores.ts';
import { EFFECT_REASONS, type EffectReason, VERDICTS, type Verdict } from '../effects/verdict.ts';
import { objects } from '../formats/table.ts';
import { answerOf } from './effect-answer.ts';
import { EFFECT_IDS, findSubject, planClicks, readClicks, requireIds, type SubjectQuery } from './effect-clicks.ts';
import { noteSchema } from './events.ts';
import type { Parameter } from './parameters.ts';
import * as parameter from './parameters.ts';
import { askPreset, type PresetRequest, type PresetSources, trackedPreset, wholeResult } from './preset.ts';
import { columnsOf, day, integer, nullable, object, openWords, project, rankingUpdates, uuid } from './schemas.ts';

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
  date: parameter.day(
    'The day of the change, with one of page, pageGroup, keyword and group. It may lie in the future.',
  ),
  page: parameter.repeatable(
    parameter.exactText('The address of a changed page; may be sent for each of several.'),
    MAX_PAGES,
  ),
  before: length('56d', 28, 182, 'Days before the change to compare with:'),
  settle: length('7d', 0, 28, 'Days from the change on that are left out:'),
  after: length('28d', 7, 91, 'Days after these, which are judged:'),
  metric: parameter.choice('EffectMetric', ['clicks'], 'clicks', 'What is judged.'),
  ...parameter.formatParameters,
};

/** The lengths of windows that a request does not name. */
const USUAL_LENGTHS: WindowLengths = {
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

const days = object('EffectWindow', { from: day, to: day });
const ratio = (description: string) => nullable(Type.Number({ format: 'double' }), description);

const effectDay = object('EffectDay', {
  date: day,
  actual: integer({ minimum: 0 }),
  expected: nullable(Type.Number({ format: 'double' })),
});

const answer = object('EffectsAnswer', {
  project,
  subject: object('EffectSubject', {
    note: Type.Optional(uuid),
    date: day,
    scope: openWords(['page', 'pageGroup', 'keyword', 'group', 'project', 'workspace']),
    name: Type.String(),
    pages: Type.Optional(integer({ minimum: 0, description: 'Number of pages.' })),
    keywords: Type.Optional(integer({ minimum: 0, description: 'Number of keywords.' })),
  }),
  windows: object('EffectWindows', { before: days, settle: nullable(days), after: days }),
  effect: nullable(
    object('Effect', {
      actual: integer({ minimum: 0, description: 'Clicks after the change, up to the last final day.' }),
      expected: Type.Number({ format: 'double', description: 'Clicks expected without it.' }),
      difference: Type.Number({ format: 'double' }),
      ratio: Type.Number({ format: 'double', description: 'Relative change: 0.3 is 30 % more than expected.' }),
      low: ratio('Lower end of the interval of 95 %; null until the days after the change have ended.'),
      high: ratio('Upper end of the interval.'),
      p: ratio('How often nothing looks like this.'),
    }),
    'Null if there is no answer, as `reasons` say, or no day after the change yet.',
  ),
  placebo: object('EffectPlacebo', {
    count: integer({ minimum: 0, description: 'Comparisons in which nothing had changed.' }),
    falseAlarmRate: Type.Number({ format: 'double', description: 'The share of them that would be called an effect.' }),
  }),
  detectable: nullable(
    object('EffectDetectable', {
      ratio: Type.Number({
        format: 'double',
        description: 'The smallest relative change that is found in 80 % of cases.',
      }),
    }),
  ),
  control: nullable(
    object('EffectControl', {
      members: integer({ minimum: 0, description: 'Unchanged pages or keywords to compare with.' }),
      error: Type.Number({
        format: 'double',
        description: 'By how much their clicks differed from the expected ones.',
      }),
    }),
  ),
  verdict: openWords(VERDICTS),
  reasons: Type.Array(openWords(EFFECT_REASONS)),
  text: Type.String({ description: 'The verdict in a sentence.' }),
  daily: Type.Array(effectDay, { description: 'From the first day before the change to the last final one.' }),
  events: Type.Array(
    object('EffectEvent', {
      kind: openWords(['counting', 'ranking']),
      title: Type.String(),
      from: day,
      to: nullable(day, 'Null for a ranking update that is not rolled out yet.'),
      source: Type.String(),
    }),
    { description: 'Changes of how the search engine counts or ranks within the windows.' },
  ),
  rankingUpdatesThrough: rankingUpdates.rankingUpdatesThrough,
  notes: Type.Array(noteSchema, { description: 'Other notes within the windows.' }),
});

/** Whether clicks of pages or keywords differ, after a change, from what others of the project make expect. */
export const effectsPreset = trackedPreset({
  path: '/projects/:id/effects',
  operation: 'getEffects',
  tag: 'Alerts and notes',
  summary: 'Whether a change of pages or keywords had an effect on their clicks',
  description:
    'Compares clicks after a change with what unchanged pages or keywords of the project make expect. How often nothing looks like this comes from placebos: the same comparison where and when nothing was changed.',
  answer,
  content: 'The effect.',
  examples: {
    200: '/projects/Proj1/effects?date=2026-03-03&page=https%3A%2F%2Fa.example%2F',
    400: '/projects/Proj1/effects?date=2026-03-03',
  },
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
    } = parameter.readParameters(parameters, sent);
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
  rows: ({ project, windows: { before, after }, daily }) =>
    objects(
      { name: `${project.domain}-effects`, range: { from: before.from, to: after.to } },
      daily,
      columnsOf(effectDay),
    ),
  version: wholeResult,
});

/** The last day of a project whose clicks stay as they are. */
export function lastFinalDay(project: Project, now: number): Day {
  const last = lastDayOfData(project, now);
  return earlier(project.provisionalAfter ?? last, last);
}

/** The verdict on the change that a note is about. */
export interface NoteVerdict {
  readonly verdict: Verdict;
  readonly reasons: readonly EffectReason[];
  /** The verdict in a sentence. */
  readonly text: string;
}

/** Whether something unchanged is left to compare with: the effect of a note on a whole project cannot be judged. */
export function canBeJudged({ scope }: Note): boolean {
  return scope !== 'project' && scope !== 'workspace';
}

/** The last of the days by which a note is judged. */
export function lastJudgedDay({ date }: Note): Day {
  return windowsOf(date, USUAL_LENGTHS).after.to;
}

/** The verdict on a note of a project, with the usual windows. Throws `not_found` for a note that is gone. */
export async function noteVerdict(
  sources: PresetSources,
  { id, workspaceId: workspace }: Pick<Project, 'id' | 'workspaceId'>,
  { id: note }: Note,
  { reader, signal }: Pick<PresetRequest, 'reader' | 'signal'>,
): Promise<NoteVerdict> {
  const request = { workspace, projects: null, id, reader, signal };
  const { verdict, reasons, text } = await askPreset(effectsPreset, sources, request, { note });
  return { verdict, reasons, text };
}
