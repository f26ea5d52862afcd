import { FILTER_HELP, ROW_FIELDS } from '../../domain/filter.ts';
import { listJson } from '../../formats/json.ts';
import { keywordsJson } from '../../formats/keywords-json.ts';
import { keywordsReport } from '../../reports/keywords.ts';
import { pagesReport } from '../../reports/pages.ts';
import * as parameter from '../../reports/parameters.ts';
import { queriesReport } from '../../reports/queries.ts';
import { findReportProject } from '../../reports/report.ts';
import { argumentsFor, parameterOf, project, type Sent } from '../arguments.ts';
import { counted } from '../counted.ts';
import { quality } from '../quality.ts';
import { ask, type Call, type Tool } from '../tool.ts';

type Kind = keyof typeof ROW_FIELDS;

const fieldsOf = (kind: Kind): string => `${kind}: ${Object.keys(ROW_FIELDS[kind]).join(', ')}`;
const FIELDS = `Fields of ${(Object.keys(ROW_FIELDS) as Kind[]).map(fieldsOf).join('; ')}.`;

const own = {
  kind: parameter.choice(
    'RowKind',
    ['queries', 'pages', 'keywords'],
    'queries',
    'queries: all that people searched for; pages: the URLs that were shown; keywords: the tracked queries.',
  ),
  ...parameter.paging(25, 1000),
};

const parameters = {
  project,
  ...own,
  ...parameter.rangeParameters,
  device: parameterOf(keywordsReport, 'device', 'Only this device; keywords only.'),
  group: parameterOf(keywordsReport, 'group', 'Id of a group or folder; keywords only.'),
  country: parameterOf(queriesReport, 'country', 'ISO 3166-1 alpha-3 code of a country; queries and pages only.'),
  filter: parameterOf(queriesReport, 'filter', `${FILTER_HELP} ${FIELDS}`),
  sort: parameterOf(
    queriesReport,
    'sort',
    `Fields to sort by, joined by commas, \`-\` for descending; most clicks first by default. ${FIELDS}`,
  ),
};

/** What the reports of all kinds answer, as JSON. */
interface Page {
  readonly project: object;
  readonly range: { readonly from: string; readonly to: string };
  readonly paging: { readonly total: number };
  readonly [rows: string]: unknown;
}

export const topRows: Tool = {
  name: 'top_rows',
  title: 'Top queries, pages or keywords',
  description:
    'The rows with most clicks, or those that a filter leaves, with totals over a range. `total` counts all rows that match. Ask for the next ones with `offset`.',
  parameters,
  required: ['project'],
  run: async (sent, call) => {
    const { kind, limit, offset } = parameter.readParameters(own, sent);
    const { project: id = '', kind: _, ...rest } = sent;
    const { project: reference, range, paging, [kind]: rows, ...more } = await page(kind, id, rest, limit, call);
    const { provisionalAfter } = await findReportProject(call.context, { workspace: call.workspace, id });
    return {
      project: reference,
      range,
      ...more,
      ...quality(range, provisionalAfter),
      ...counted(paging.total, offset, (rows as unknown[]).length),
      [kind]: rows,
    };
  },
};

/** A page of rows, as the API answers it. */
async function page(kind: Kind, id: string, sent: Sent, limit: number, call: Call): Promise<Page> {
  const asked = { ...sent, limit: String(limit) };
  const json = async (): Promise<Buffer> => {
    if (kind === 'keywords') {
      const own = argumentsFor(kind, { sort: '-clicks', ...asked }, keywordsReport.parameters);
      return keywordsJson(await ask(keywordsReport, id, own, call));
    }
    if (kind === 'pages')
      return listJson(await ask(pagesReport, id, argumentsFor(kind, asked, pagesReport.parameters), call));
    return listJson(await ask(queriesReport, id, argumentsFor(kind, asked, queriesReport.parameters), call));
  };
  return JSON.parse((await json()).toString()) as Page;
}
