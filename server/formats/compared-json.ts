import type { Change, Compared, Unsafe } from '../domain/comparison.ts';
import type { Metrics } from '../domain/metrics.ts';

/**
 * What stands beside metrics, without braces: the same text as `JSON.stringify(compared)`, several times faster, for
 * thousands of rows.
 */
export function comparedJson({ comparison, change, unsafe }: Compared): string {
  const { clicks, impressions, ctr, position } = change;
  return `"comparison":${metricsText(comparison)},"change":{"clicks":${changeText(clicks)},"impressions":${changeText(impressions)},"ctr":${changeText(ctr)},"position":${changeText(position)}},"unsafe":${unsafeText(unsafe)}`;
}

function metricsText({ clicks, impressions, ctr, position }: Metrics): string {
  return `{"clicks":${clicks},"impressions":${impressions},"ctr":${ctr},"position":${position}}`;
}

function changeText({ difference, ratio }: Change): string {
  return `{"difference":${difference},"ratio":${ratio}}`;
}

/** Rows share few such objects. */
const texts = new WeakMap<Unsafe, string>();

function unsafeText(unsafe: Unsafe): string {
  let text = texts.get(unsafe);
  if (text === undefined) {
    text = JSON.stringify(unsafe);
    texts.set(unsafe, text);
  }
  return text;
}
