import { Type } from 'typebox';
import { listJson } from '../../formats/json.ts';
import { isLongList, listTable, listVersion } from '../../presets/lists.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { instant, object, openWords } from '../schemas.ts';

const sources = PROVIDERS.flatMap(({ lists }) => (lists === undefined ? [] : [lists]));

const properties = {
  kind: openWords(
    sources.map(({ source }) => source),
    `${sources.map(({ source, help }) => `${source}: ${help}`).join('; ')}.`,
  ),
  fetchedAt: instant,
  truncated: Type.Boolean({ description: 'There were more rows than the list holds.' }),
  capped: Type.Boolean({ description: 'The list is as long as its source may make it.' }),
};

export const listSource = object('ListSource', {
  ...properties,
  reconciled: Type.Optional(
    Type.Boolean({
      description: 'Only of weeks: the pages of the weeks add up to the days of the site, in clicks and impressions.',
    }),
  ),
  comparison: Type.Optional(
    object('ComparisonSource', properties, { description: 'The source of the list of the range of `compare`.' }),
  ),
});

/** How lists are written. */
export const listFormats = { json: listJson, rows: listTable, isLong: isLongList, version: listVersion };
