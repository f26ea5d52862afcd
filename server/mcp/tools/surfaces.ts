import { surfacesReport } from '../../reports/surfaces.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = surfacesReport.parameters;

export const surfaces: Tool = {
  name: 'surfaces',
  title: 'Search types',
  description:
    'Clicks, impressions, ctr and average position of the whole site in each search type that it has: web, image, video, news, discover, googleNews. Only clicks may be added up; never compare positions or impressions of different types. discover and googleNews have no positions.',
  parameters: { project, ...ofReport },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => (await ask(surfacesReport, id, sent, call)).answer,
};
