import { Type } from 'typebox';
import { comparedDays, day, instant, nullable, object, oneOf } from '../schemas.ts';

/** Schemas shared by the list endpoints, pages and queries. */
export const listRangeSchema = object({
  from: day,
  to: day,
  country: nullable(Type.String()),
  comparison: Type.Optional(comparedDays),
});

const source = {
  kind: oneOf(['gsc', 'bigquery'], "gsc: the search engine's reporting API; bigquery: a data warehouse."),
  fetchedAt: instant,
  truncated: Type.Boolean({ description: 'There were more rows than the list holds.' }),
  capped: Type.Boolean({ description: 'The list is as long as its source may make it.' }),
};

export const listSource = object({
  ...source,
  comparison: Type.Optional(object(source, { description: 'Only with compare: the source of the other list.' })),
});
