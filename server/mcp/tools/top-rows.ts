import type { Quality } from '../../domain/quality.ts';
import { queriesPreset } from '../../presets/pages-and-queries.ts';
import * as parameter from '../../presets/parameters.ts';
import type { OfType } from '../../presets/search-type.ts';
import { parameterOf, project } from '../arguments.ts';
import { counted } from '../counted.ts';
import { quality } from '../quality.ts';
import { FIELDS, jsonRows, kind, qualityFor, rowParameters, surfaceParameters } from '../row-kinds.ts';
import type { Tool } from '../tool.ts';

const toolParameters = { kind, ...parameter.paging(25, 1000) };
const SORT_HELP = `Fields to sort by, joined by commas, \`-\` for descending; most clicks first by default. ${FIELDS}`;

/** The properties that the presets of all kinds have in common. */
interface Page {
  readonly project: object;
  readonly range: { readonly from: string; readonly to: string } & OfType;
  readonly quality?: Quality;
  readonly paging: { readonly total: number };
  readonly [rows: string]: unknown;
}

export const topRows: Tool = {
  name: 'top_rows',
  title: 'Top queries, pages or keywords',
  description:
    'The rows with most clicks, or those that match a filter, with totals over a range. `total` counts all rows that match. Ask for the next ones with `offset`.',
  parameters: {
    project,
    ...toolParameters,
    ...rowParameters,
    ...surfaceParameters,
    sort: parameterOf(queriesPreset, 'sort', SORT_HELP),
  },
  required: ['project'],
  run: async ({ project: id = '', ...sent }, call) => {
    const { kind: of, limit, offset } = parameter.readParameters(toolParameters, sent);
    const { kind: _, ...asked } = sent;
    const json = await jsonRows(of, id, { ...asked, ...qualityFor(sent), limit: String(limit) }, call);
    const {
      project: reference,
      range,
      quality: known,
      paging,
      [of]: rows,
      ...more
    } = JSON.parse(json.toString()) as Page;
    return {
      project: reference,
      range,
      ...more,
      ...(known && quality(range, known)),
      ...counted(paging.total, offset, (rows as unknown[]).length),
      [of]: rows,
    };
  },
};
