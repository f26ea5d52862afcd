import { hasDimension } from '../domain/grains.ts';
import { refusedQuestion } from '../domain/nearest-questions.ts';
import { comparedRange, keywordHistoryFrom, siteRange } from '../domain/project-ranges.ts';
import { parseQuestion } from '../domain/question.ts';
import { formatParameters, readParameters } from './parameters.ts';
import { answerQuestion } from './question-answer.ts';
import { questionParameter } from './question-parameter.ts';
import { planQuestion, type QuestionValue } from './question-plan.ts';
import { trackedReport } from './report.ts';

const parameters = { q: questionParameter, ...formatParameters };

/** Any question that stored facts answer exactly. */
export const questionReport = trackedReport({
  operation: 'getQuery',
  parameters,
  parse: (sent, project, now): QuestionValue => {
    const { q, format } = readParameters(parameters, sent);
    const { range, compare, ...question } = parseQuestion(q, { hasAllRows: format !== 'json' });
    const days = siteRange(range, project, now);
    const comparison = comparedRange(days, compare);
    if (hasDimension(question.grain, 'keyword')) {
      const first = keywordHistoryFrom(project, now);
      for (const [name, { from }] of Object.entries({ range: days, ...(comparison && { compare: comparison }) })) {
        if (from < first) {
          throw refusedQuestion(
            `${name}: keywords before ${first} are not known in this plan. Nearest questions: range from ${first} on.`,
            name === 'compare' ? [{ compare: null }] : days.to < first ? [] : [{ range: { from: first, to: days.to } }],
          );
        }
      }
    }
    return { ...days, ...question, comparison };
  },
  plan: async (query, read) => ({ query, tracked: read.tracked, ...(await planQuestion(read, query)) }),
  run: (plan, { facts, trackedCache: cache }, { signal }) => answerQuestion(plan, { facts, cache, signal }),
});

/** The answer, with what a table of it needs. */
export type QuestionResult = Awaited<ReturnType<typeof questionReport.run>>;
