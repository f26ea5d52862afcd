import type { Project } from '../catalog/projects.ts';
import { KnownError } from '../domain/errors.ts';
import { comparedRange, keywordHistoryFrom, siteRange } from '../domain/project-ranges.ts';
import { hasDimension } from '../model/tables.ts';
import { sentFilter } from '../query/predicate.ts';
import { parseQuestion } from '../query/question.ts';
import { type Offer, RefusedQuestion, withParts } from '../query/refuse.ts';
import { formatParameters, readParameters } from './parameters.ts';
import { answerQuestion } from './question-answer.ts';
import { WITHOUT_COMPARE } from './question-days.ts';
import { questionParameter } from './question-parameter.ts';
import { planQuestion, type QuestionValue, type RefusedValue } from './question-plan.ts';
import { type ReportRequest, type ReportSources, trackedReport } from './report.ts';

const parameters = { q: questionParameter, ...formatParameters };

/** Any question that stored facts answer exactly. */
export const questionReport = trackedReport({
  operation: 'getQuery',
  parameters,
  parse: (sent, project, now): QuestionValue & { readonly refused: RefusedValue | null } => {
    const { q, format } = readParameters(parameters, sent);
    try {
      return { ...questionOf(q, { hasAllRows: format !== 'json' }, project, now), refused: null };
    } catch (error) {
      if (!(error instanceof RefusedQuestion)) throw error;
      // What can be answered instead depends on what is stored. Nothing is read for the question itself.
      const { problem, offers } = error;
      const refused = { sent: JSON.parse(q) as object, problem, offers };
      return { ...questionOf('{}', { hasAllRows: false }, project, now), refused };
    }
  },
  plan: async (query, read) => ({ query, tracked: read.tracked, ...(await planQuestion(read, query)) }),
  run: async (plan, sources, request) => {
    const { refused } = plan.query;
    if (refused !== null) throw await answerable(refused, sources, request);
    try {
      const { facts, trackedCache: cache } = sources;
      return await answerQuestion(plan, { facts, cache, signal: request.signal });
    } catch (error) {
      if (!(error instanceof RefusedQuestion)) throw error;
      const { problem, offers } = error;
      throw await answerable({ sent: sentOf(plan.query), problem, offers }, sources, request);
    }
  },
});

/** The answer, with what a table of it needs. */
export type QuestionResult = Awaited<ReturnType<typeof questionReport.run>>;

/** The question of a text about a project. Throws `invalid_request`. */
function questionOf(q: string, how: { readonly hasAllRows: boolean }, project: Project, now: number): QuestionValue {
  const { range, compare, ...question } = parseQuestion(q, how);
  const days = siteRange(range, project, now);
  const comparison = comparedRange(days, compare);
  if (hasDimension(question.grain, 'keyword')) {
    const first = keywordHistoryFrom(project, now);
    const problemOf = (name: string): string => `${name}: keywords before ${first} are not known in this plan.`;
    if (days.from < first) {
      const known = {
        says: `range from ${first} on`,
        question: { range: { from: first, to: days.to } },
      };
      throw new RefusedQuestion(problemOf('range'), days.to < first ? [] : [known]);
    }
    if (comparison !== null && comparison.from < first) {
      throw new RefusedQuestion(problemOf('compare'), [WITHOUT_COMPARE]);
    }
  }
  return { ...days, ...question, comparison, compare: compare ?? null };
}

/** A question that was parsed, as it may be sent. */
function sentOf({ from, to, metrics, dimensions, filters, sort, compare }: QuestionValue): object {
  return {
    range: { from, to },
    metrics,
    dimensions,
    filters: filters.map((filter) => sentFilter(filter)),
    ...(sort && { sort: sort.map(({ by, descending }) => (descending ? `-${by}` : by)) }),
    ...(compare && { compare }),
  };
}

/** The refusal of a question, with those nearest ones that are answered. */
async function answerable(
  { sent, problem, offers }: RefusedValue,
  sources: ReportSources,
  request: ReportRequest,
): Promise<RefusedQuestion> {
  const answered: Offer[] = [];
  for (const offer of offers) {
    const refused = await refusalOf(withParts(sent, offer.question), sources, request);
    if (refused === null) answered.push(offer);
    // What is stored of other days, or without a comparison, is near too.
    for (const { says, question } of refused?.offers ?? []) {
      if (question.dimensions !== undefined) continue;
      const both = { says: `${offer.says}, ${says}`, question: { ...offer.question, ...question } };
      if ((await refusalOf(withParts(sent, both.question), sources, request)) !== null) continue;
      answered.push(both);
      break;
    }
  }
  return new RefusedQuestion(problem, answered);
}

/** Why a question is refused; null if it is answered. Only its first row is read. */
async function refusalOf(
  sent: object,
  { trackedCache: cache, facts, now }: ReportSources,
  { workspace, id, signal }: ReportRequest,
): Promise<RefusedQuestion | null> {
  try {
    const q = JSON.stringify({ ...sent, limit: 1, offset: 0 });
    const plan = await cache.read(workspace, id, async (read) => {
      const query = { workspace, ...questionOf(q, { hasAllRows: false }, read.project, now()) };
      return { query, tracked: read.tracked, ...(await planQuestion(read, query)) };
    });
    if (plan !== undefined) await answerQuestion(plan, { facts, cache, signal });
    return null;
  } catch (error) {
    if (error instanceof RefusedQuestion) return error;
    if (error instanceof KnownError && error.code === 'invalid_request') return new RefusedQuestion(error.message, []);
    throw error;
  }
}
