import { findingsPreset } from '../../presets/findings.ts';
import * as parameter from '../../presets/parameters.ts';
import { project } from '../arguments.ts';
import { quality } from '../quality.ts';
import { ask, type Tool } from '../tool.ts';

const { format: _format, bom: _bom, ...ofReport } = findingsPreset.parameters;
const ofTool = { limit: parameter.wholeNumber({ minimum: 1, maximum: 100 }, 20, 'Most findings.') };

export const findings: Tool = {
  name: 'findings',
  title: 'What is unusual, and what is worth doing',
  description:
    'Queries and pages that differ from what this site usually does: CTR off for the position, clicks that moved, pages that decay for months, queries that came, went or are split over pages; and what would gain most from a few places. Each has its numbers, a gain in clicks with an interval, and since when. At most the share q of what a family lists is expected to be false; tested says how many rows were tested, and why a type could not be. Quote text as it is; do not add other findings from small changes.',
  parameters: { project, ...ofReport, ...ofTool },
  required: ['project'],
  run: async ({ project: id = '', limit, ...sent }, call) => {
    const { limit: most } = parameter.readParameters(ofTool, { limit });
    const result = await ask(findingsPreset, id, { ...sent, limit: String(most) }, call);
    const { project: reference, range, q, findings: listed, tested, paging, quality: known } = result;
    const next = paging.offset + listed.length;
    return {
      project: reference,
      range,
      ...quality(range, known),
      q,
      total: paging.total,
      returned: listed.length,
      nextOffset: next < paging.total ? next : null,
      findings: listed,
      tested,
    };
  },
};
