import type { AlertRule } from '../domain/alert-rules.ts';
import type { Day } from '../domain/dates.ts';
import { decimalText, percentText, wholeText } from '../domain/shown-numbers.ts';
import type { KeywordAlertType } from './alert.ts';

/** Clicks, and those of a usual time. */
interface Clicks {
  readonly clicks: number;
  readonly usual: number;
}

export interface AlertText {
  readonly title: string;
  readonly body: string;
}

/** Keywords that a grouped alert names. */
const MAX_NAMED = 20;

const GROUP_TITLES: Readonly<Record<KeywordAlertType, string>> = {
  keyword_drop: 'fell at once',
  keyword_lost: 'are no longer shown',
  url_changed: 'rank with another page',
  url_mismatch: 'rank with another page than the intended one',
};

export function trafficDropText({ clicks, usual }: Clicks, day: Day): AlertText {
  const fell = percentText((usual - clicks) / usual);
  return {
    title: `Clicks fell ${fell} below the usual week: ${wholeText(clicks)} against ${wholeText(usual)}`,
    body: `The site had ${wholeText(clicks)} clicks in the week to ${day}. A usual week, the median of the four before, has ${wholeText(usual)}.`,
  };
}

/** @param window its first hour, and the end of its last one, as the search engine writes them */
export function hourlyStopText({ clicks, usual }: Clicks, { from, to }: { from: string; to: string }): AlertText {
  const shown = (hour: string): string => `${hour.slice(0, 10)} ${hour.slice(11, 16)}`;
  return {
    title: `Clicks have stopped: ${wholeText(clicks)} in 6 hours, against ${wholeText(usual)}`,
    body: `From ${shown(from)} to ${shown(to)}, Pacific time, the site had ${count(clicks, 'click')}. The same hours of the four weeks before had ${wholeText(usual)} on average.`,
  };
}

interface KeywordDropNumbers {
  readonly query: string;
  readonly position: number;
  readonly usual: number;
  readonly impressions: number;
}

export function keywordDropText({ query, position, usual, impressions }: KeywordDropNumbers, day: Day): AlertText {
  return {
    title: `"${query}" fell from position ${decimalText(usual, 1)} to ${decimalText(position, 1)}`,
    body: `In the week to ${day} the average position of "${query}" was ${decimalText(position, 1)} over ${count(impressions, 'impression')}, against ${decimalText(usual, 1)} in a usual week.`,
  };
}

interface KeywordLostNumbers {
  readonly query: string;
  readonly silent: number;
  readonly impressions: number;
  readonly position: number;
}

export function keywordLostText(
  { query, silent, impressions, position }: KeywordLostNumbers,
  { lastShown, day }: { lastShown: Day; day: Day },
): AlertText {
  return {
    title: `"${query}" has had no impressions for ${count(silent, 'day')}`,
    body: `"${query}" was last shown on ${lastShown} and not since, until ${day}. In the 28 days to then it had ${count(impressions, 'impression')} at an average position of ${decimalText(position, 1)}.`,
  };
}

export function urlChangedText(query: string, { page, before }: { page: string; before: string }, day: Day): AlertText {
  return {
    title: `Another page ranks for "${query}"`,
    body: `In the 7 days to ${day} at least 60% of the impressions of "${query}" went to ${page}; in the 28 days before they went to ${before}.`,
  };
}

export function urlMismatchText(
  query: string,
  { page, target }: { page: string; target: string },
  day: Day,
): AlertText {
  return {
    title: `"${query}" ranks with another page than the intended one`,
    body: `In the 7 days to ${day} at least 60% of the impressions of "${query}" went to ${page}; the page that should rank is ${target}.`,
  };
}

/** The text of a grouped alert. */
export function groupedText(type: KeywordAlertType, queries: readonly string[], day: Day): AlertText {
  const named = queries.slice(0, MAX_NAMED).map((query) => `"${query}"`);
  const more = queries.length - named.length;
  return {
    title: `${count(queries.length, 'keyword')} ${GROUP_TITLES[type]}`,
    body: `Evaluated on ${day}: ${named.join(', ')}${more > 0 ? ` and ${wholeText(more)} more` : ''}.`,
  };
}

const METRIC_NAMES = { clicks: 'clicks', impressions: 'impressions', ctr: 'CTR', position: 'average position' };

/** @param about the subject, such as `the site` or `"boots"` */
export function userRuleText(
  name: string,
  { rule, about }: { rule: AlertRule; about: string },
  { figure, reference }: { readonly figure: number; readonly reference: number | null },
  day: Day,
): AlertText {
  const metric = METRIC_NAMES[rule.metric];
  const shown = (value: number): string => formatFigure(rule.metric, value);
  const days = rule.window === '1d' ? 'on' : `in the ${rule.window.slice(0, -1)} days to`;
  if (reference === null) {
    const limit = shown(rule.unit === 'percent' ? rule.value / 100 : rule.value);
    const side = rule.op === 'lt' ? 'below' : 'above';
    return {
      title: `Rule "${name}": ${metric} of ${about} ${side} ${limit}: ${shown(figure)}`,
      body: `The ${metric} of ${about} ${days} ${day} ${rule.metric === 'clicks' || rule.metric === 'impressions' ? 'were' : 'was'} ${shown(figure)}, ${side} the rule's ${limit}.`,
    };
  }
  const direction = figure < reference ? 'fell' : 'rose';
  const by = reference === 0 ? '' : ` by ${percentText(Math.abs(figure - reference) / reference)}`;
  const before = rule.against === 'year' ? 'in the same days 364 days earlier' : 'in the days before';
  return {
    title: `Rule "${name}": ${metric} of ${about} ${direction}${by}: ${shown(figure)} against ${shown(reference)}`,
    body: `The ${metric} of ${about} ${days} ${day}: ${shown(figure)}, against ${shown(reference)} ${before}.`,
  };
}

export function resolvedText(day: Day, why: string): string {
  return ` Resolved on ${day}: ${why}.`;
}

function count(value: number, noun: string): string {
  return `${wholeText(value)} ${noun}${value === 1 ? '' : 's'}`;
}

function formatFigure(metric: AlertRule['metric'], value: number): string {
  if (metric === 'ctr') return percentText(value, 2);
  return metric === 'position' ? decimalText(value, 2) : value.toLocaleString('en');
}
