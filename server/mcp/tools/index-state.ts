import { indexHistoryReport, indexReport } from '../../reports/index-state.ts';
import { argumentsFor, parameterOf, project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofList } = indexReport.parameters;

export const indexState: Tool = {
  name: 'index_state',
  title: 'Index state of pages',
  description:
    'Whether pages are in the index of the search engine (verdict PASS), why not, their canonical pages, and when each was last inspected. With page, the states that this page had, too. A reason says why they are not known.',
  parameters: {
    project,
    page: parameterOf(indexHistoryReport, 'page', 'The address of one page; without it, all pages are listed.'),
    ...ofList,
    limit: parameterOf(indexReport, 'limit', 'Maximum number of pages; 20 by default.'),
  },
  required: ['project'],
  run: ({ project: id = '', page, ...sent }, call) => {
    if (page === undefined) return ask(indexReport, id, { limit: '20', ...sent }, call);
    return ask(indexHistoryReport, id, { page, ...argumentsFor('one page', sent, {}) }, call);
  },
};
