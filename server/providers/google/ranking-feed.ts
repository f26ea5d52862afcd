import type { ReadRankingUpdate } from '../../catalog/alerts.ts';
import { addDays, type Day, pacificDayOf } from '../../domain/dates.ts';
import { readText } from '../../runtime/response-text.ts';

/** The product of the status dashboard whose incidents are ranking updates. */
const RANKING = { id: 'rGHU1u87FJnkP6W2GwMi', title: 'Ranking' };
const DASHBOARD = 'https://status.search.google.com/';
const HISTORY = `${DASHBOARD}products/${RANKING.id}/history`;

/** The feed has some 200 kB. */
const MAX_BYTES = 10_000_000;
const MAX_TITLE_LENGTH = 200;

/** Why the feed could not be read, in words for the log. */
export class FeedFailure extends Error {
  override readonly name = 'FeedFailure';
}

/** The ranking updates that a feed has. */
interface RankingFeed {
  readonly updates: readonly ReadRankingUpdate[];
  /** Incidents of ranking that say too little, such as those without a begin. */
  readonly unusable: number;
}

/** The last day that the feed is complete for when it is read: more may happen on the current one. */
export function completeDayOf(now: number): Day {
  return addDays(pacificDayOf(now), -1);
}

/**
 * Reads the incident feed of Google's status dashboard. Throws `FeedFailure`, or the reason of the signal.
 * @param timeLimit seconds
 */
export async function readRankingFeed(
  address: string,
  { timeLimit, signal }: { readonly timeLimit: number; readonly signal: AbortSignal },
): Promise<RankingFeed> {
  return readIncidents(await fetchFeed(address, timeLimit, signal));
}

async function fetchFeed(address: string, timeLimit: number, signal: AbortSignal): Promise<string> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeLimit * 1000)]);
    // What another address says is not Google's word.
    const response = await fetch(address, {
      signal: limited,
      redirect: 'error',
      headers: { accept: 'application/json' },
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new FeedFailure(`it answered with status ${response.status}`);
    }
    return await readText(response, MAX_BYTES, () => new FeedFailure(`its answer has more than ${MAX_BYTES} bytes`));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedFailure) throw error;
    const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: string; message?: string } };
    if (name === 'TimeoutError') throw new FeedFailure(`it did not answer within ${timeLimit} seconds`);
    throw new FeedFailure(`it cannot be reached (${cause?.code ?? cause?.message ?? message})`);
  }
}

/** The incidents that are ranking updates; fields that are not needed may be missing or of any kind. */
function readIncidents(text: string): RankingFeed {
  const incidents = parse(text);
  if (!Array.isArray(incidents)) throw new FeedFailure('its answer is not a JSON array of incidents');
  const ranked = incidents.filter(isOfRanking);
  // There always are some. Another format must not look like a history without updates.
  if (ranked.length === 0) throw new FeedFailure('it has no incidents of ranking; has its format changed?');
  // Others are outages.
  const announced = ranked.filter((incident) => typeof incident['external_desc'] !== 'string' || isUpdate(incident));
  const updates = announced.map(readUpdate).filter((update) => update !== undefined);
  const byId = new Map(updates.map((update) => [update.id, update]));
  return { updates: [...byId.values()], unusable: announced.length - updates.length };
}

type Fields = Readonly<Record<string, unknown>>;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfRanking(incident: unknown): incident is Fields {
  if (!isFields(incident)) return false;
  const { affected_products: products, service_name: service } = incident;
  if (!Array.isArray(products)) return service === RANKING.title;
  return products.some(
    (product) => isFields(product) && (product['id'] === RANKING.id || product['title'] === RANKING.title),
  );
}

function isUpdate({ external_desc: title }: Fields): boolean {
  return /\bupdate\b/i.test(title as string);
}

/** Undefined if it does not say what began when, or not when it ended. */
function readUpdate({ id, external_desc: title, begin, end, uri }: Fields): ReadRankingUpdate | undefined {
  if (typeof id !== 'string' || id === '' || typeof title !== 'string') return undefined;
  const plain = title.trim().replaceAll(/\s+/g, ' ');
  if (plain.length > MAX_TITLE_LENGTH) return undefined;
  const from = readDay(begin);
  const isOpen = end === undefined || end === null || end === '';
  const to = isOpen ? null : readDay(end);
  if (from === undefined || to === undefined || (to !== null && to < from)) return undefined;
  const source = typeof uri === 'string' && /^incidents\/[\w-]+$/.test(uri) ? DASHBOARD + uri : HISTORY;
  return { id, title: plain, from, to, source };
}

/** The Pacific day of an instant such as `2026-03-27T09:00:00+00:00`. */
function readDay(instant: unknown): Day | undefined {
  if (typeof instant !== 'string' || !/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(instant))
    return undefined;
  const at = Date.parse(instant);
  return Number.isNaN(at) ? undefined : pacificDayOf(at);
}
