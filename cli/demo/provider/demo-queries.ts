import type { Calendar } from '../calendar.ts';
import { queriesOf } from '../queries.ts';
import type { Site } from '../site.ts';
import type { QueryPlan } from './made-searches.ts';

/** The queries of a demo site as plans of the model. */
export function demoQueries(site: Site, calendar: Calendar): QueryPlan[] {
  const appearances = site.appearances.map(({ appearance }) => appearance);
  return queriesOf(site, [], calendar).map(({ number, text, page, volume, position, slices }): QueryPlan => {
    const feature = number % 4 === 0 ? appearances[(number / 4) % appearances.length] : undefined;
    return {
      text,
      page: page ?? `${site.origin}/`,
      // Searches for a product sometimes also show the home page.
      ...(page !== null && number % 6 === 0 ? { secondPage: `${site.origin}/` } : {}),
      volume,
      position,
      countries: slices.map(({ country, low, high }) => [country, high - low]),
      ...(feature === undefined ? {} : { appearances: [feature] }),
    };
  });
}
