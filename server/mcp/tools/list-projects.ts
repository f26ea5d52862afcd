import { paging, readParameters } from '../../presets/parameters.ts';
import { projectsPreset } from '../../presets/projects.ts';
import { counted } from '../counted.ts';
import { ask, type Tool } from '../tool.ts';

const parameters = paging(100, 1000);

export const listProjects: Tool = {
  name: 'list_projects',
  title: 'List projects',
  description:
    'The projects of the workspace with their ids, which all other tools need, and the days that they have: `syncedThrough` is the last day with data, where ranges end by default.',
  parameters,
  required: [],
  run: async (sent, call) => {
    const { limit, offset } = readParameters(parameters, sent);
    const { projects } = await ask(projectsPreset, '', {}, call);
    const page = projects.slice(offset, offset + limit);
    return { ...counted(projects.length, offset, page.length), projects: page };
  },
};
