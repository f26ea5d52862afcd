import { sitemapsPreset } from '../../presets/index-state.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

export const sitemaps: Tool = {
  name: 'sitemaps',
  title: 'Sitemaps',
  description:
    'The sitemaps that the search engine knows: when it last read each, its warnings and errors, and how many pages it has. A reason says why they are not known.',
  parameters: { project },
  required: ['project'],
  run: ({ project: id = '' }, call) => ask(sitemapsPreset, id, {}, call),
};
