import * as parameter from '../../reports/parameters.ts';
import { siteReport } from '../../reports/site.ts';
import { project } from '../arguments.ts';
import { quality } from '../quality.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = siteReport.parameters;
const own = {
  limit: parameter.wholeNumber({ minimum: 1, maximum: 486 }, 100, 'Most days in the answer: the last ones.'),
};

export const sitePerformance: Tool = {
  name: 'site_performance',
  title: 'Site performance',
  description:
    'Totals and days of the whole site: clicks, impressions, ctr and average position. ' +
    'Use it first, for how a site does and when that changed. Totals cover the whole range, also where days are left out.',
  parameters: { project, ...ofReport, ...own },
  required: ['project'],
  run: async ({ project: id = '', limit: sentLimit, ...sent }, call) => {
    const { limit } = parameter.readParameters(own, { limit: sentLimit });
    const { answer } = await ask(siteReport, id, sent, call);
    const { daily, range, ...rest } = answer;
    const days = daily.slice(-limit);
    return {
      ...rest,
      range,
      ...quality(range, range.provisionalAfter),
      total: daily.length,
      returned: days.length,
      daily: days,
    };
  },
};
