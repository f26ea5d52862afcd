import { Type } from 'typebox';
import { instant, object, openWords } from '../schema-types.ts';

const properties = {
  kind: openWords(['gsc', 'bigquery'], "gsc: the search engine's reporting API; bigquery: a data warehouse."),
  fetchedAt: instant,
  truncated: Type.Boolean({ description: 'There were more rows than the list holds.' }),
  capped: Type.Boolean({ description: 'The list is as long as its source may make it.' }),
};

/** The source of a list of pages or queries. */
export const listSource = object('ListSource', {
  ...properties,
  comparison: Type.Optional(
    object('ComparisonSource', properties, { description: 'The source of the list of the range of `compare`.' }),
  ),
});
