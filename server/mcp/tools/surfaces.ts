import { surfacesReport } from '../../presets/surfaces.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = surfacesReport.parameters;

export const surfaces: Tool = {
  name: 'surfaces',
  title: 'Search types and engines',
  description:
    'Clicks, impressions, ctr and average position of the whole site in each search type that it has (web, image, video, news, discover, googleNews), and in Bing; and what imported reports count in AI answers. Only clicks may be added up; never compare positions or impressions of different rows. discover, googleNews and Bing have no positions.',
  parameters: { project, ...ofReport },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => (await ask(surfacesReport, id, sent, call)).answer,
};
