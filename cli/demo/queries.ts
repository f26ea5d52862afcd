import type { Calendar } from './calendar.ts';
import { type Random, seededRandom } from './random.ts';
import type { Intent, Move, Pattern, Site, Topic } from './site.ts';

/** A market's share of a query's impressions: from `low` to `high`, where the total is 1. */
interface Slice {
  country: string;
  low: number;
  high: number;
}

/**
 * One query as the SQL files read it. `text` is null for anonymised queries (one per page). `page` is null for traffic
 * from distant markets, which counts in the site's totals but not in its lists.
 */
export interface QueryModel {
  /** Numbers the queries of one site, from 0. */
  number: number;
  project: string;
  text: string | null;
  page: string | null;
  intent: Intent;
  /** Mean impressions a day, over all devices, at the end of the range. */
  volume: number;
  /** Position at the end of the range. */
  position: number;
  /** Clicks relative to the clicks expected from the position alone. */
  appeal: number;
  peak: number;
  strength: number;
  /** How much worse the position was a year earlier, as a share of it. */
  drift: number;
  /** Slow oscillation of the position: its amplitude, its period in days and its phase. */
  wave: number;
  period: number;
  phase: number;
  /** First day of a loss of position and the day on which it was reversed, with its effect (see `Move`). */
  moved: string | null;
  returned: string | null;
  worse: number;
  kept: number;
  slices: Slice[];
}

/** Anonymised queries bring this share of a page's impressions on top of its visible queries. */
const ANONYMISED = 0.34;
const DISTANT = 0.08;

/** Every query of a site: by topic, single ones, the anonymised ones of each page and the rest from distant markets. */
export function queriesOf(site: Site, moves: readonly Move[], calendar: Calendar): QueryModel[] {
  const random = seededRandom(site.domain);
  const visible = [...topicQueries(site, random), ...singleQueries(site, random)].map((query) =>
    withMove(query, moves, calendar),
  );
  const anonymised = Map.groupBy(visible, (query) => query.page);
  const hidden = [...anonymised.values()].map((queries) => summary(site, queries, ANONYMISED, random));
  const distant = summary(site, visible, DISTANT, random);
  const slices = slicesOf(site.distantMarkets.map((country, rank) => [country, 1 / (rank + 2)]));
  const all = [...visible, ...hidden, { ...distant, page: null, slices }];
  return all.map((query, number) => ({ ...query, number }));
}

function topicQueries(site: Site, random: Random): QueryModel[] {
  return site.topics.flatMap((topic) =>
    site.patterns
      .filter((pattern) => pattern.kinds?.includes(topic[1]) ?? true)
      .map((pattern) => topicQuery(site, topic, pattern, random)),
  );
}

function topicQuery(site: Site, topic: Topic, pattern: Pattern, random: Random): QueryModel {
  const [term, , season, volume, position] = topic;
  const text = pattern.query.replace('*', term);
  const page = site.origin + pattern.page.replace('*', term.replaceAll(' ', '-'));
  const patternVolume = pattern.share === 1 ? volume : volume * pattern.share * Math.exp(random(-2.6, 0.7));
  const rank = Math.max(1, position * pattern.rank * (pattern.share === 1 ? 1 : random(0.75, 1.4)));
  return { ...query(site, season, patternVolume, rank, random), text, page, intent: pattern.intent };
}

function singleQueries(site: Site, random: Random): QueryModel[] {
  return site.singles.map(([text, path, intent, volume, position]) => ({
    ...query(site, 'always', volume, position, random),
    text,
    page: site.origin + path,
    intent,
  }));
}

function query(site: Site, season: string, volume: number, position: number, random: Random): QueryModel {
  const { peak, strength } = site.seasons[season]!;
  // A query in the first position stays there: a brand does not drift.
  const settled = position < 1.5 ? 0.15 : 1;
  return {
    number: 0,
    project: site.projectId,
    text: null,
    page: null,
    intent: 'unclassified',
    volume,
    position,
    appeal: random(0.75, 1.25),
    peak: peak + random(-14, 14),
    strength: strength * random(0.8, 1.2),
    drift: random(-0.25, 0.75) * settled,
    wave: random(0.03, 0.16) * settled,
    period: random(40, 150),
    phase: random(0, 6.28),
    moved: null,
    returned: null,
    worse: 1,
    kept: 1,
    slices: slicesOf(marketsOf(site, volume, random)),
  };
}

/** One query for many small ones: a share of the impressions of the given ones, at their average position. */
function summary(site: Site, queries: readonly QueryModel[], share: number, random: Random): QueryModel {
  const sum = (value: (query: QueryModel) => number) => queries.reduce((total, each) => total + value(each), 0);
  const volume = sum((each) => each.volume);
  const average = (value: (query: QueryModel) => number) => sum((each) => value(each) * each.volume) / volume;
  const position = average((each) => each.position) * 1.1;
  const drawn = query(site, 'always', volume * share * random(0.8, 1.2), position, random);
  const page = queries[0]?.page ?? null;
  const [peak, strength] = [average((each) => each.peak), average((each) => each.strength)];
  return { ...drawn, page, peak, strength, slices: slicesOf(marketsOf(site, 150, random)) };
}

function withMove(query: QueryModel, moves: readonly Move[], calendar: Calendar): QueryModel {
  const move = moves.find((each) => each.query === query.text);
  if (!move) return query;
  const returned = move.back === null ? null : calendar.ago(move.back);
  // Without drift and oscillation, the data has the positions that the alert names.
  const steady = { drift: 0, wave: 0, worse: move.worse, kept: move.kept };
  return { ...query, ...steady, moved: calendar.ago(move.ago), returned };
}

/** A large query has impressions in all markets, a small one in the home market, or in it and one other. */
function marketsOf(site: Site, volume: number, random: Random): [string, number][] {
  const reach = volume >= 420 ? 8 : volume >= 170 ? 3 : volume >= 90 ? 2 : 1;
  const home = site.markets[0]!;
  const foreign = site.markets.slice(1).map(([country, share]) => ({ country, share, rank: share * random(0.2, 1) }));
  const nearest = foreign.toSorted((a, b) => b.rank - a.rank).slice(0, reach - 1);
  return [[...home], ...nearest.map(({ country, share }): [string, number] => [country, share * random(0.6, 1.5)])];
}

function slicesOf(shares: readonly (readonly [country: string, share: number])[]): Slice[] {
  const whole = shares.reduce((sum, [, share]) => sum + share, 0);
  let high = 0;
  return shares.map(([country, share], index) => {
    const low = high;
    // The last bound is exactly 1, so that the parts of every number add up to it.
    high = index === shares.length - 1 ? 1 : low + share / whole;
    return { country, low, high };
  });
}
