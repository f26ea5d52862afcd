import { scaledRatio } from '../domain/metrics.ts';
import type { JsonBytes } from './json-bytes.ts';

const CLICKS = Buffer.from('"clicks":');
const IMPRESSIONS = Buffer.from(',"impressions":');
const CTR = Buffer.from(',"ctr":');
const POSITION = Buffer.from(',"position":');
const NOTHING = Buffer.from(',"ctr":null,"position":null}');
const END = Buffer.from('}');

/**
 * The properties of a metrics object and its closing brace; the same text as `JSON.stringify(toMetrics(measures))`. The
 * measures come one by one: an object for each of 500,000 rows would be most of what an answer leaves to be collected.
 */
export function writeMetrics(json: JsonBytes, clicks: number, impressions: number, sumPosition: number): void {
  json.raw(CLICKS);
  json.whole(clicks);
  json.raw(IMPRESSIONS);
  json.whole(impressions);
  if (impressions === 0) {
    json.raw(NOTHING);
    return;
  }
  json.raw(CTR);
  json.decimal(scaledRatio(clicks, impressions, 10_000), 4);
  json.raw(POSITION);
  json.decimal(scaledRatio(sumPosition + impressions, impressions, 10), 1);
  json.raw(END);
}
