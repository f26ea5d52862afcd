import { scaledRatio } from '../domain/metrics.ts';
import type { ListResult } from '../reports/lists.ts';

/**
 * The properties of a metrics object and its closing brace: the same text as `JSON.stringify(toMetrics(measures))`,
 * without an object for each of 500,000 rows.
 */
export function metricsJson(clicks: number, impressions: number, sumPosition: number): string {
  if (impressions === 0) return `"clicks":${clicks},"impressions":0,"ctr":null,"position":null}`;
  const ctr = scaledRatio(clicks, impressions, 10_000) / 10_000;
  const position = scaledRatio(sumPosition + impressions, impressions, 10) / 10;
  return `"clicks":${clicks},"impressions":${impressions},"ctr":${ctr},"position":${position}}`;
}

/** The start of a response whose rows follow: `{…,"name":[`. The caller ends it with `]}`. */
export function openRows(head: object, name: string): string {
  return `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
}

/** A whole response as JSON. */
export function documentJson<Answer extends object>(answer: Answer): Buffer {
  return Buffer.from(JSON.stringify(answer));
}

/** A page of a list, whose rows are already JSON. */
export function listJson({ head, kind, json }: ListResult): Buffer {
  return Buffer.concat([Buffer.from(openRows(head, kind)), ...json, Buffer.from(']}')]);
}
