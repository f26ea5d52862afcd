import { countDays } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { decimalText, percentText, wholeText } from '../domain/shown-numbers.ts';
import type { ExactFinding, Finding, FindingEvidence } from './listed-finding.ts';

/** A sentence or two about a finding, with its numbers. */
export function textOf(finding: ExactFinding, range: Range): string {
  const { type, page, query, evidence } = finding;
  const row = page === undefined ? `The query “${query}”` : `The page ${page}`;
  const days = countDays(range.from, range.to);
  const parts = [SENTENCES[type](row, evidence, days), gainText(finding), sinceText(finding)];
  return parts.filter((part) => part !== '').join(' ');
}

type Sentence = (row: string, evidence: FindingEvidence, days: number) => string;

const SENTENCES: Readonly<Record<Finding['type'], Sentence>> = {
  low_ctr: (row, evidence) => ctrText(row, evidence),
  high_ctr: (row, evidence) => ctrText(row, evidence),
  rising: (row, evidence, days) => moveText(row, evidence, days),
  falling: (row, evidence, days) => moveText(row, evidence, days),
  near_top: (row, { position, clicks, impressions, betterPosition }) =>
    `${row} is at position ${rounded(position!)} with ${count(clicks)} clicks of ${count(impressions)} impressions; improving as the best quarter of such queries here would bring it to ${rounded(betterPosition!)}.`,
  decaying_page: (row, { weeklyChange, change, clicks }) =>
    `${row} lost ${percent(-change!)} against the other pages in 26 weeks, ${percent(-weeklyChange!)} a week; it has ${count(clicks)} clicks in the range.`,
  split: (row, { pages, pageImpressions, mainPageChanges, shownDays }) =>
    `${row} is split over ${pages!.length} pages (${pages!.map((url, at) => `${url}: ${count(pageImpressions![at])} impressions`).join(', ')}); the main one changed ${mainPageChanges} times in ${shownDays} shown days.`,
  new: (row, { impressions, clicks }) =>
    `${row} has ${count(impressions)} impressions and ${count(clicks)} clicks; in the 56 days before it was not shown, or below the provider's privacy threshold.`,
  lost: (row, { impressionsBefore, expectedImpressions }) =>
    `${row} had ${count(impressionsBefore)} impressions in the 56 days before; in the range, where about ${count(expectedImpressions)} would be usual, it was not shown, or below the provider's privacy threshold.`,
};

function ctrText(row: string, { clicks, impressions, position, expectedCtr, expectedClicks }: FindingEvidence): string {
  return `${row} has a CTR of ${percent(clicks! / impressions!)} (${count(clicks)} clicks of ${count(impressions)} impressions) at position ${rounded(position!)}; others here have ${percent(expectedCtr!)} there, which would be ${count(expectedClicks)} clicks.`;
}

function moveText(row: string, { clicks, clicksBefore, expectedClicks }: FindingEvidence, days: number): string {
  return `${row} went from ${count(clicksBefore)} to ${count(clicks)} clicks in ${days} days; moving like the others it would have ${count(expectedClicks)}.`;
}

function gainText({ gain, type }: ExactFinding): string {
  if (gain === null) return '';
  const what = type === 'near_top' ? 'That would bring about' : 'To be gained:';
  return `${what} ${count(gain.clicks)} clicks more (${count(gain.low)} to ${count(gain.high)}).`;
}

function sinceText({ since, type }: ExactFinding): string {
  if (since === null) return '';
  return type === 'new' ? `First shown on ${since}.` : `Since ${since}.`;
}

const count = (value: number | undefined): string => wholeText(value!);
const percent = (share: number): string => percentText(share, 1);
const rounded = (position: number): string => decimalText(position, 1);
