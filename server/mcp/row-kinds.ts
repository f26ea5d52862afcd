import { FILTER_HELP, ROW_FIELDS } from '../domain/rules.ts';
import { listJson } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { OTHER_ENGINES, SEARCH_TYPES } from '../model/surfaces.ts';
import { keywordsJson, keywordsPreset, keywordsTable } from '../presets/keywords.ts';
import { listTable } from '../presets/lists.ts';
import { pagesPreset, queriesPreset } from '../presets/pages-and-queries.ts';
import * as parameter from '../presets/parameters.ts';
import { argumentsFor, parameterOf, type Sent } from './arguments.ts';
import { WITH_QUALITY } from './quality.ts';
import { ask, type Call } from './tool.ts';

const KINDS = ['queries', 'pages', 'keywords'] as const;
/** The kind of rows of a tool. */
export type Kind = (typeof KINDS)[number];

export const kind = parameter.choice(
  'RowKind',
  KINDS,
  'queries',
  'queries: all that people searched for; pages: the URLs that were shown; keywords: the tracked queries.',
);

const fieldsOf = (of: Kind): string => `${of}: ${Object.keys(ROW_FIELDS[of]).join(', ')}`;
/** The fields to filter and sort by. */
export const FIELDS = `Fields of ${KINDS.map(fieldsOf).join('; ')}.`;

/** Parameters that select rows of any kind. */
export const rowParameters = {
  ...parameter.rangeParameters,
  compare: parameter.compare,
  device: parameterOf(keywordsPreset, 'device', 'Only this device; keywords only.'),
  group: parameterOf(keywordsPreset, 'group', 'Id of a group or folder; keywords only.'),
  country: parameterOf(queriesPreset, 'country', 'ISO 3166-1 alpha-3 code of a country; queries and pages only.'),
  filter: parameterOf(queriesPreset, 'filter', `${FILTER_HELP} ${FIELDS}`),
};

/** Parameters that select what counted them. */
export const surfaceParameters = {
  type: parameterOf(
    queriesPreset,
    'type',
    `Only this search type: ${SEARCH_TYPES.join(', ')}; queries and pages only. discover and googleNews have no queries.`,
  ),
  engine: parameterOf(
    queriesPreset,
    'engine',
    `google, or ${OTHER_ENGINES.join(' or ')}: whole weeks of queries and pages.`,
  ),
};

/** How presets are asked for the quality of their data, which is not known of weeks. */
export function qualityFor({ engine }: Sent): Sent {
  return OTHER_ENGINES.some((other) => other === engine) ? {} : WITH_QUALITY;
}

/** A page of rows, as in the JSON of the API. */
export async function jsonRows(of: Kind, id: string, sent: Sent, call: Call): Promise<Buffer> {
  if (of === 'keywords') {
    const ofList = argumentsFor(of, { sort: '-clicks', ...sent }, keywordsPreset.parameters);
    return keywordsJson(await ask(keywordsPreset, id, ofList, call));
  }
  return listJson(await askList(of, id, sent, call));
}

/** All rows, read on demand. */
export async function allRows(of: Kind, id: string, sent: Sent, call: Call): Promise<RowsAnswer> {
  const flat = { ...sent, format: 'ndjson' };
  if (of !== 'keywords') return listTable(await askList(of, id, flat, call));
  return keywordsTable(await ask(keywordsPreset, id, argumentsFor(of, flat, keywordsPreset.parameters), call));
}

function askList(of: 'queries' | 'pages', id: string, sent: Sent, call: Call) {
  if (of === 'pages') return ask(pagesPreset, id, argumentsFor(of, sent, pagesPreset.parameters), call);
  return ask(queriesPreset, id, argumentsFor(of, sent, queriesPreset.parameters), call);
}
