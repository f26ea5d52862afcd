import type { Calendar } from './calendar.ts';
import { shortId } from './ids.ts';
import type { QueryModel } from './queries.ts';
import { seededRandom } from './random.ts';
import type { History, Site } from './site.ts';

/** A tracked query: its row in `keywords`, and the query's number in the facts. */
export interface Keyword {
  id: string;
  number: number;
  model: QueryModel;
  query: string;
  source: 'suggested' | 'manual' | 'import';
  /** Days before the last day. */
  since: number;
  archived: boolean;
}

/** Chooses the tracked queries of a site: those that its description names, then mostly large ones. */
export function keywordsOf(site: Site, history: History, queries: readonly QueryModel[]): Keyword[] {
  const random = seededRandom(`keywords of ${site.domain}`);
  const { moves, pageMoves, targets, rules, notes } = history;
  const named = new Set([...moves, ...pageMoves, ...targets, ...rules, ...notes].flatMap((each) => each.query ?? []));
  const always = new Set([...named, ...site.singles.map(([query]) => query)]);
  const ranked = queries
    .flatMap((model) => (model.text === null ? [] : [{ model, query: model.text }]))
    .map(({ model, query }) => {
      const weight = always.has(query) ? Number.MAX_VALUE : model.volume ** 0.6 * random(0.02, 1);
      return { model, query, weight };
    })
    .toSorted((a, b) => b.weight - a.weight || a.model.number - b.model.number)
    .slice(0, site.trackedCount);
  for (const query of named) {
    if (!ranked.some((each) => each.query === query)) throw new Error(`The demo names an unknown query: ${query}`);
  }
  return ranked.map(({ model, query }) => {
    const chance = random(0, 1);
    const source = chance < 0.5 ? 'import' : chance < 0.82 ? 'suggested' : 'manual';
    // The first import is as old as the project; keywords added by hand are newer.
    const since = source === 'import' ? 470 : Math.floor(random(source === 'suggested' ? 380 : 20, 465));
    const archived = !named.has(query) && random(0, 1) < 0.06;
    return {
      id: shortId(`${site.projectId} keyword ${query}`),
      number: model.number,
      model,
      query,
      source,
      since,
      archived,
    };
  });
}

export function keywordRows(site: Site, history: History, keywords: readonly Keyword[], calendar: Calendar): object[] {
  const targets = new Map(history.targets.map(({ query, page }) => [query, site.origin + page]));
  return keywords.map((keyword) => ({
    project_id: site.projectId,
    id: keyword.id,
    query: keyword.query,
    source: keyword.source,
    tracked_since: calendar.morningAfter(keyword.since, 320),
    intent: keyword.model.intent,
    archived: keyword.archived,
    target_url: targets.get(keyword.query) ?? null,
  }));
}
