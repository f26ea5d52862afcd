import { isOtherEngine, OTHER_ENGINES, SEARCH_TYPES, SURFACE_NAMES, SURFACES } from '../../model/surfaces.ts';
import { surfacesPreset } from '../../presets/surfaces.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = surfacesPreset.parameters;

/** Search types and engines whose days have no positions. */
const UNPLACED = SURFACE_NAMES.filter((name) => !SURFACES[name].hasDailyPositions).map((name) =>
  isOtherEngine(name) ? SURFACES[name].label : name,
);

export const surfaces: Tool = {
  name: 'surfaces',
  title: 'Search types and engines',
  description: `Clicks, impressions, ctr and average position of the whole site in each search type that it has (${SEARCH_TYPES.join(', ')}), and in ${OTHER_ENGINES.map((engine) => SURFACES[engine].label).join(' and ')}; and what imported reports count in AI answers. Only clicks may be added up; never compare positions or impressions of different rows. ${UNPLACED.slice(0, -1).join(', ')} and ${UNPLACED.at(-1)} have no positions.`,
  parameters: { project, ...ofReport },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => (await ask(surfacesPreset, id, sent, call)).answer,
};
