import { effectsPreset } from '../../presets/effects.ts';
import { exactText } from '../../presets/parameters.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = effectsPreset.parameters;

export const effectOf: Tool = {
  name: 'effect_of',
  title: 'Whether a change helped',
  description:
    'Judges a change of pages or keywords by their clicks: those after it against what unchanged ones make expect. Send note (an id from alerts_and_notes), or date and one of page, pageGroup, keyword and group. p and the interval come from placebos, the same comparison where nothing was changed. Quote text; if the verdict is no_evidence, too_small, not_comparable or interim, do not claim an effect. With a date in the future, detectable says how large a change must be to be seen.',
  parameters: { project, ...ofReport, page: exactText('The address of the changed page.') },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => {
    const { daily: _, ...answer } = await ask(effectsPreset, id, sent, call);
    return answer;
  },
};
