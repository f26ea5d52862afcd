import { toPrefixSums } from '../../server/alerts/calendar.ts';
import type { KeywordSums } from '../../server/alerts/keyword-drop.ts';
import { Random } from '../../test/random.ts';

/** The first weeks are needed for the windows; they are followed by a year. */
export const FIRST_DAYS = 62;
export const DAYS = FIRST_DAYS + 365;

/** Clicks of a synthetic site: weekdays, a season, a slow drift, noise above the Poisson level, rare outliers. */
export function siteOf(clicks: number, name: string): number[] {
  const draws = new Random(`evidence ${clicks} ${name}`);
  const weekend = draws.uniform(0.4, 1.1);
  const [season, phase] = [draws.uniform(0, 0.25), draws.uniform(0, 365)];
  const scatter = draws.uniform(0.05, 0.15);
  let level = 0;
  return Array.from({ length: DAYS }, (_, day) => {
    level += draws.normal() * 0.01;
    const weekday = day % 7 >= 5 ? weekend : 1;
    const wave = 1 + season * Math.sin((2 * Math.PI * (day + phase)) / 365);
    const outlier = draws.uniform(0, 1) < 0.01 ? draws.uniform(0.3, 2.5) : 1;
    return draws.poisson(clicks * weekday * wave * outlier * Math.exp(level + scatter * draws.normal()));
  });
}

/** The day on which the drop of a subject starts. */
export function dayOfDrop(name: string): number {
  return Math.floor(new Random(`day ${name}`).uniform(120, 350));
}

/** A site that loses a share of its clicks from a day on. */
export function droppedSite(clicks: number, name: string, drop: number): number[] {
  const from = dayOfDrop(name);
  const draws = new Random(`drop ${clicks} ${name}`);
  return siteOf(clicks, name).map((value, day) => (day < from ? value : draws.thinned(value, 1 - drop)));
}

/**
 * A synthetic keyword: a slow drift of its position, daily noise, rankings that change for some days, and more noise with
 * fewer impressions.
 * @param factor by which the position gets worse from `dayOfDrop` on; 1 for no drop
 */
export function keywordOf(impressionsPerDay: number, name: string, factor = 1): KeywordSums {
  const draws = new Random(`keyword ${impressionsPerDay} ${name}`);
  const base = Math.exp(draws.uniform(Math.log(1.5), Math.log(25)));
  const [scatter, spread] = [draws.uniform(0.03, 0.2), draws.uniform(0.1, 0.6)];
  const from = factor === 1 ? DAYS : dayOfDrop(name);
  const impressions = [0];
  const positions = [0];
  let level = 0;
  let shift = 0;
  for (let day = 0; day < DAYS; day++) {
    // The drift reverts to its mean within some months.
    level = 0.985 * level + 0.02 * draws.normal();
    if (draws.uniform(0, 1) < 0.01) shift = draws.normal() * 0.35;
    if (draws.uniform(0, 1) < 0.2) shift = 0;
    const shown = draws.poisson(impressionsPerDay * Math.exp(0.3 * draws.normal()));
    const mean = base * Math.exp(level + shift + scatter * draws.normal()) * (day >= from ? factor : 1);
    // Searchers see the page at different positions.
    const seen = mean * Math.exp((spread * draws.normal()) / Math.sqrt(Math.max(1, shown)));
    impressions.push(shown);
    positions.push(Math.round(shown * Math.max(0, seen - 1)));
  }
  return {
    impressions: toPrefixSums(Float64Array.from(impressions)),
    positions: toPrefixSums(Float64Array.from(positions)),
  };
}
