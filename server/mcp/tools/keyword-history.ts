import { notFound } from '../../domain/errors.ts';
import { dailyKeywordsJson } from '../../formats/keywords-json.ts';
import { keywordsReport } from '../../reports/keywords.ts';
import * as parameter from '../../reports/parameters.ts';
import { project } from '../arguments.ts';
import { quality } from '../quality.ts';
import { ask, type Call, type Tool } from '../tool.ts';

const keyword: parameter.Parameter = {
  schema: { ...project.schema, description: 'Id of a tracked keyword, or its text in any case.' },
  expected: 'the id or the text of a tracked keyword',
  decode: (text) => text,
};
const own = {
  limit: parameter.wholeNumber({ minimum: 1, maximum: 486 }, 100, 'Most days in the answer: the last ones.'),
};

interface Answer {
  readonly project: object;
  readonly range: { readonly from: string; readonly to: string; readonly provisionalAfter: string | null };
  readonly keywords: readonly { readonly id: string; readonly daily: readonly unknown[] }[];
}

export const keywordHistory: Tool = {
  name: 'keyword_history',
  title: 'History of a keyword',
  description:
    'Totals and days of one tracked keyword. Days without a row had no impressions. Queries that are not tracked have no history: see them with top_rows.',
  parameters: { project, keyword, ...parameter.rangeParameters, device: parameter.device, ...own },
  required: ['project', 'keyword'],
  run: async ({ project: id = '', keyword: named = '', limit: sentLimit, ...sent }, call) => {
    const { limit } = parameter.readParameters(own, { limit: sentLimit });
    const { id: keywordId, query } = await findKeyword(id, named, call);
    const conditions = [{ field: 'query', op: 'equals', value: query }];
    const filter = JSON.stringify({ match: 'all', conditions });
    const result = await ask(keywordsReport, id, { ...sent, daily: '1', filter }, call);
    const parts = await Array.fromAsync(dailyKeywordsJson(result));
    const { project: reference, range, keywords } = JSON.parse(Buffer.concat(parts).toString()) as Answer;
    // Others may differ by case only.
    const { daily, ...found } = keywords.find((one) => one.id === keywordId)!;
    const days = daily.slice(-limit);
    return {
      project: reference,
      range,
      keyword: found,
      ...quality(range, range.provisionalAfter),
      total: daily.length,
      returned: days.length,
      daily: days,
    };
  },
};

/** The tracked keyword with an id or a text. */
async function findKeyword(
  id: string,
  named: string,
  { context, workspace }: Call,
): Promise<{ id: string; query: string }> {
  const found = await context.tracked.read(workspace, id, ({ tracked: { keywords, idByQuery } }) => {
    const byText = idByQuery.get(named.toLowerCase());
    return { keyword: keywords.find((one) => one.id === named) ?? keywords.find((one) => one.id === byText) };
  });
  if (found === undefined) throw notFound('The workspace of this key has no such project.');
  if (found.keyword === undefined) {
    throw notFound(
      `The project tracks no keyword '${named.slice(0, 100)}'; top_rows with kind keywords lists those that it tracks.`,
    );
  }
  return found.keyword;
}
