import { crawlPreset, indexHistoryPreset, indexPreset } from '../../presets/index-state.ts';
import { readParameters } from '../../presets/parameters.ts';
import { searchEngine } from '../../presets/search-type.ts';
import { argumentsFor, parameterOf, project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofList } = indexPreset.parameters;

/** The newest days of the crawler that an agent gets. */
const DAYS = 90;

const engine = {
  ...searchEngine,
  schema: { ...searchEngine.schema, description: 'google, or bing: only what its crawler found.' },
};

export const indexState: Tool = {
  name: 'index_state',
  title: 'Index state of pages',
  description:
    'Whether pages are in the index of the search engine (verdict PASS), why not, their canonical pages, and when each was last inspected. With page, the states that this page had, too. A reason says why they are not known. With engine bing, what its crawler found on the newest days, or of one page, which is no verdict.',
  parameters: {
    project,
    page: parameterOf(indexHistoryPreset, 'page', 'The address of one page; without it, all pages are listed.'),
    engine,
    ...ofList,
    limit: parameterOf(indexPreset, 'limit', 'Maximum number of pages; 20 by default.'),
  },
  required: ['project'],
  run: async ({ project: id = '', page, engine: named, ...sent }, call) => {
    if (readParameters({ engine }, named === undefined ? {} : { engine: named }).engine === 'bing') {
      const ofPage = { ...(page === undefined ? {} : { page }), ...argumentsFor('engine bing', sent, {}) };
      const { days, ...answer } = (await ask(crawlPreset, id, ofPage, call)).answer;
      return { ...answer, total: days.length, returned: Math.min(days.length, DAYS), days: days.slice(-DAYS) };
    }
    if (page === undefined) return ask(indexPreset, id, { limit: '20', ...sent }, call);
    return ask(indexHistoryPreset, id, { page, ...argumentsFor('one page', sent, {}) }, call);
  },
};
