import { explainPreset } from '../../presets/explain.ts';
import { project } from '../arguments.ts';
import { quality, shortEvent, WITH_QUALITY } from '../quality.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, quality: _quality, ...ofReport } = explainPreset.parameters;

export const explainChange: Tool = {
  name: 'explain_change',
  title: 'Why clicks changed',
  description:
    'Why the clicks of a site rose or fell against another range (by default the one just before): parts in whole clicks that add up to the change, for impressions, positions, ctr, rows that came and went, and what no row can say (notAttributed). Use it first for any question why. rows are those that changed most, rest has the others; usual says between which numbers nine of ten such changes of the past year were. Where unsafe names a reason, say so.',
  parameters: { project, ...ofReport },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => {
    const answer = await ask(explainPreset, id, { ...sent, ...WITH_QUALITY }, call);
    const { project: reference, range, quality: known, rows, rest, events, ...explained } = answer;
    return {
      project: reference,
      range,
      ...quality(range, known),
      // Of both ranges.
      events: events.map(shortEvent),
      total: rows.length + rest.rows,
      returned: rows.length,
      ...explained,
      rows,
      rest,
    };
  },
};
