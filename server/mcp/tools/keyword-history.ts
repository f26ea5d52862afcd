import { notFound } from '../../domain/errors.ts';
import type { Quality } from '../../domain/quality.ts';
import { dailyKeywordsJson, keywordsPreset } from '../../presets/keywords.ts';
import * as parameter from '../../presets/parameters.ts';
import { project, type Sent } from '../arguments.ts';
import { quality, WITH_QUALITY } from '../quality.ts';
import { seriesOf, seriesParameters } from '../series.ts';
import { ask, type Call, type Tool } from '../tool.ts';

const keyword: parameter.Parameter = {
  schema: { ...project.schema, description: 'Id of a tracked keyword, or its text in any case.' },
  expected: 'the id or the text of a tracked keyword',
  decode: (text) => text,
};
interface Answer {
  readonly project: object;
  readonly range: { readonly from: string; readonly to: string };
  readonly quality: Quality;
  readonly keywords: readonly { readonly id: string; readonly daily: readonly unknown[] }[];
}

export const keywordHistory: Tool = {
  name: 'keyword_history',
  title: 'History of a keyword',
  description:
    'Totals and days of one tracked keyword; long ranges come as weeks unless interval says otherwise. Days without a row had no impressions. Queries that are not tracked have no history: see them with top_rows.',
  parameters: {
    project,
    keyword,
    ...parameter.rangeParameters,
    compare: parameter.compare,
    device: parameter.device,
    ...seriesParameters,
  },
  required: ['project', 'keyword'],
  run: async ({ project: id = '', keyword: named = '', ...sent }, call) => {
    const { id: keywordId, query } = await findKeyword(id, named, call);
    const filter = JSON.stringify({ match: 'all', conditions: [{ field: 'query', op: 'equals', value: query }] });
    const asks = async (parameters: Sent): Promise<Answer> => {
      const result = await ask(keywordsPreset, id, { ...parameters, ...WITH_QUALITY, daily: '1', filter }, call);
      const parts = await Array.fromAsync(dailyKeywordsJson(result));
      return JSON.parse(Buffer.concat(parts).toString()) as Answer;
    };
    // Other keywords may differ only in case.
    const found = ({ keywords }: Answer) => keywords.find((one) => one.id === keywordId)!;
    const { answer, series } = await seriesOf(sent, asks, (one) => found(one).daily);
    const { project: reference, range, quality: known } = answer;
    const { daily: _, ...totals } = found(answer);
    return { project: reference, range, ...quality(range, known), keyword: totals, ...series };
  },
};

/** The tracked keyword with an id or a text. */
async function findKeyword(
  id: string,
  named: string,
  { context, workspace }: Call,
): Promise<{ id: string; query: string }> {
  const found = await context.trackedCache.read(workspace, id, ({ tracked: { keywords, idByQuery } }) => {
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
