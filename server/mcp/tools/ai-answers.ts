import { aiPreset } from '../../presets/ai.ts';
import { parameterOf, project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = aiPreset.parameters;

export const aiAnswers: Tool = {
  name: 'ai_answers',
  title: 'AI answers',
  description:
    "What was imported of the engines' reports about AI answers, by day or page: impressions in Google's AI answers, citations in those of Bing and its partners. Never add them to clicks or impressions, or to each other. Pages are counted in the days of `lists` only.",
  parameters: { project, ...ofReport, limit: parameterOf(aiPreset, 'limit', 'Maximum number of rows; 50 by default.') },
  required: ['project'],
  run: ({ project: id = '', ...sent }, call) => ask(aiPreset, id, { limit: '50', ...sent }, call),
};
