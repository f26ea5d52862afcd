import { sitePreset } from '../../presets/site.ts';
import { project } from '../arguments.ts';
import { quality, WITH_QUALITY } from '../quality.ts';
import { seriesOf, seriesParameters } from '../series.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, quality: _quality, ...ofReport } = sitePreset.parameters;

export const sitePerformance: Tool = {
  name: 'site_performance',
  title: 'Site performance',
  description:
    'Totals and days of the whole site: clicks, impressions, ctr and average position. Use it first, for how a site does and when that changed. Long ranges come as weeks unless interval says otherwise; totals cover the whole range.',
  parameters: { project, ...ofReport, ...seriesParameters },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => {
    const asks = async (parameters: typeof sent) =>
      (await ask(sitePreset, id, { ...parameters, ...WITH_QUALITY }, call)).answer;
    const { answer, series } = await seriesOf(sent, asks, ({ daily }) => daily);
    const { project: reference, range, quality: known, totals } = answer;
    return { project: reference, range, ...quality(range, known), totals, ...series };
  },
};
