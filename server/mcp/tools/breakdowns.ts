import { breakdownsPreset } from '../../presets/breakdowns.ts';
import * as parameter from '../../presets/parameters.ts';
import { project } from '../arguments.ts';
import { quality, WITH_QUALITY } from '../quality.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, quality: _quality, ...ofReport } = breakdownsPreset.parameters;
const toolParameters = {
  limit: parameter.wholeNumber({ minimum: 1, maximum: 300 }, 20, 'Most rows of each kind.'),
};

export const breakdowns: Tool = {
  name: 'breakdowns',
  title: 'Countries, devices, appearances, brand',
  description:
    'Site totals over a range by country, device, search appearance, and brand against non-brand queries. Appearances overlap and do not add up to the site; the anonymous part belongs to queries that the search engine does not name.',
  parameters: { project, ...ofReport, ...toolParameters },
  required: ['project'],
  run: async ({ project: id = '', limit: sentLimit, ...sent }, call) => {
    const { limit } = parameter.readParameters(toolParameters, { limit: sentLimit });
    const { answer } = await ask(breakdownsPreset, id, { ...sent, ...WITH_QUALITY }, call);
    const { project: reference, range, quality: known, brand, countries, devices, appearances } = answer;
    const kinds = { countries, devices, appearances };
    return {
      project: reference,
      range,
      ...quality(range, known),
      total: sizes(kinds, Number.POSITIVE_INFINITY),
      returned: sizes(kinds, limit),
      brand,
      ...Object.fromEntries(Object.entries(kinds).map(([kind, rows]) => [kind, rows.slice(0, limit)])),
    };
  },
};

/** How many rows there are of each kind, at most `limit`. */
function sizes(kinds: Readonly<Record<string, readonly unknown[]>>, limit: number): Record<string, number> {
  return Object.fromEntries(Object.entries(kinds).map(([kind, { length }]) => [kind, Math.min(length, limit)]));
}
