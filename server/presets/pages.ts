import type { Rendering } from '../lists/blocks.ts';
import { listParameters, parseList, planList, runList, wasListLost } from './lists.ts';
import { projectReport } from './report.ts';

export const PAGE_RENDERING: Rendering = {
  variant: '',
  name: 'url',
  known: 'all',
  fields: [],
  textsOf: ({ text }) => ({ url: text }),
};

/** The pages of the property with totals over a range. */
export const pagesReport = projectReport({
  operation: 'listPages',
  parameters: listParameters.pages,
  parse: (sent, project, now) => parseList('pages', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, PAGE_RENDERING),
  run: runList,
  mayReplan: wasListLost,
});
