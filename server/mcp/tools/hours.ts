import { hoursPreset } from '../../presets/hours.ts';
import { readParameters, wholeNumber } from '../../presets/parameters.ts';
import { project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = hoursPreset.parameters;
const limit = wholeNumber({ minimum: 1, maximum: 1500 }, 72, 'Most hours: the newest ones of the range.');

export const hours: Tool = {
  name: 'hours',
  title: 'Hours',
  description:
    'Clicks, impressions, ctr and average position of the whole site by hour, in Pacific time: for what happens today, and at which hour something began. Hours after provisionalAfter still grow. Never add hours to days or compare their sums with days.',
  parameters: { project, ...ofReport, limit },
  required: ['project'],
  run: async ({ project: id = '', limit: sentLimit, ...sent }, call) => {
    const { limit: most } = readParameters({ limit }, { limit: sentLimit });
    const { project: reference, range, hours: all } = (await ask(hoursPreset, id, sent, call)).answer;
    const shown = all.slice(-most);
    return { project: reference, range, total: all.length, returned: shown.length, hours: shown };
  },
};
