import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { type ChannelWriter, disableChannel, listChannels } from './channels.ts';

/** A delivery of an event over a channel, as lists show it. */
export interface Delivery {
  /** One for each event and channel: the `webhook-id`. */
  readonly id: string;
  readonly channel: string;
  readonly event: string;
  /** What the event is about. */
  readonly subject: string;
  readonly state: 'pending' | 'sent' | 'failed' | 'cancelled';
  readonly attempts: number;
  /** Of the next attempt; null if there is none. */
  readonly nextAt: Microseconds | null;
  /** Of the last answer; null without one. */
  readonly status: number | null;
  /** The beginning of the last answer, or why there was none. */
  readonly answer: string | null;
  readonly createdAt: Microseconds;
  readonly sentAt: Microseconds | null;
}

/** A delivery that this process sends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly channel: string;
  readonly body: string;
  /** Differs for each claim. */
  readonly claim: string;
}

/** How an attempt ended. `retry`: it may succeed later; `gone`: the receiver wants no more. */
export interface AttemptResult {
  readonly outcome: 'sent' | 'retry' | 'failed' | 'gone';
  readonly status: number | null;
  readonly answer: string | null;
}

/** How long a claim lasts without being renewed: what a killed sender holds. */
const CLAIM = 25_000_000;
/** Attempts of one channel at a time. */
const AT_ONCE = 4;
const KEPT = 30 * 86_400_000_000;
/** Deliveries to forget at a time. */
const FORGOTTEN = 2000;

/**
 * Claims what is due and no other sender has.
 * @param render the body of the first attempt and of all later ones
 */
export async function claimDeliveries(
  catalog: Catalog,
  now: Microseconds,
  render: (body: string) => string,
): Promise<ClaimedDelivery[]> {
  const due = (reader: Catalog): Promise<Omit<ClaimedDelivery, 'claim'>[]> =>
    reader.statements.all('deliveries.due', { now, latest: now + 2 * CLAIM, atOnce: AT_ONCE });
  // A transaction makes all processes read again, so there is none without work.
  if ((await due(catalog)).length === 0) return [];
  return catalog.transaction(async (tx) => {
    const claimed: ClaimedDelivery[] = [];
    for (const { id, channel, body } of await due(tx)) {
      const delivery = { id, channel, body: render(body), claim: newUuid() };
      const { claim, body: rendered } = delivery;
      await tx.statements.run('deliveries.claim', { id, claim, until: now + CLAIM, body: rendered });
      claimed.push(delivery);
    }
    return claimed;
  });
}

/** How many deliveries wait to be sent, and when the first of them was due; null if none is due. */
export async function readPendingDeliveries(
  { statements }: Catalog,
  now: Microseconds,
): Promise<{ readonly pending: number; readonly dueSince: Microseconds | null }> {
  return (await statements.get<{ pending: number; dueSince: number | null }>('deliveries.pending', { now }))!;
}

/** Keeps claims while attempts run. */
export async function renewClaims(
  catalog: Catalog,
  claims: readonly ClaimedDelivery[],
  now: Microseconds,
): Promise<void> {
  if (claims.length === 0) return;
  await catalog.transaction(async (tx) => {
    for (const { id, claim } of claims) await tx.statements.run('deliveries.renew', { id, claim, until: now + CLAIM });
  });
}

/**
 * Stores how an attempt ended, unless the delivery was claimed by another sender since.
 * @param nextAt when to try again after so many attempts; null for never
 */
export async function endAttempt(
  catalog: Catalog,
  { id, claim }: ClaimedDelivery,
  result: AttemptResult,
  { nextAt, ...writer }: ChannelWriter & { nextAt: (attempts: number) => Microseconds | null },
): Promise<Delivery['state'] | undefined> {
  return catalog.transaction(async (tx) => {
    const before = await findDelivery(tx, id);
    if (before === undefined || before.claim !== claim) return undefined;
    const attempts = before.attempts + 1;
    const next = result.outcome === 'retry' && before.state === 'pending' ? nextAt(attempts) : null;
    const state = next === null ? endedState(before.state, result) : 'pending';
    const { status, answer } = result;
    const sentAt = state === 'sent' ? writer.at : null;
    const endedAt = state === 'pending' ? null : writer.at;
    await tx.statements.run('deliveries.end_attempt', {
      id,
      state,
      attempts,
      nextAt: next,
      status,
      answer,
      sentAt,
      endedAt,
    });
    if (result.outcome === 'gone') await disableChannel(tx, before.channel, 'gone', writer);
    return state;
  });
}

/** It may have been cancelled meanwhile. */
function endedState(before: Delivery['state'], { outcome }: AttemptResult): Delivery['state'] {
  if (outcome === 'sent') return 'sent';
  return before === 'pending' ? 'failed' : before;
}

/** Stores a delivery that was sent, or not, when somebody asked for it; there was one attempt. */
export async function recordDelivery(
  tx: Catalog,
  delivery: Pick<Delivery, 'id' | 'channel' | 'event' | 'subject' | 'createdAt'> & { readonly body: string },
  { outcome, status, answer }: AttemptResult,
  { by, at }: ChannelWriter,
): Promise<Delivery> {
  const { id, channel, event, subject, body, createdAt } = delivery;
  await tx.statements.run('deliveries.add', { id, channel, event, subject, body, nextAt: null, createdAt });
  const state = outcome === 'sent' ? 'sent' : 'failed';
  const sentAt = state === 'sent' ? at : null;
  const attempts = ((await findDelivery(tx, id))?.attempts ?? 0) + 1;
  const ended = { id, state, attempts, nextAt: null, status, answer, sentAt } as const;
  await tx.statements.run('deliveries.end_attempt', { ...ended, endedAt: at });
  if (outcome === 'gone') await disableChannel(tx, channel, 'gone', { by, at });
  return { ...ended, channel, event, subject, createdAt };
}

async function findDelivery(
  catalog: Catalog,
  id: string,
): Promise<(Delivery & { claim: string | null; body: string }) | undefined> {
  return catalog.statements.get('deliveries.one', { id });
}

/** The newest deliveries of a channel, or of all, newest first. */
export async function listDeliveries(catalog: Catalog, channel: string | null, limit: number): Promise<Delivery[]> {
  const channels = channel === null ? (await listChannels(catalog, null)).map(({ id }) => id) : [channel];
  const newest: Delivery[] = [];
  for (const id of channels)
    newest.push(...(await catalog.statements.all<Delivery>('deliveries.of_channel', { channel: id, limit })));
  return newest.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/**
 * Makes due what waits for longer than its pause: the clock was ahead when it was planned.
 * @param pauses the longest one after so many attempts
 */
export async function hastenDeliveries(
  catalog: Catalog,
  now: Microseconds,
  pauses: (attempts: number) => Microseconds,
): Promise<void> {
  const waiting = await catalog.statements.all<{ attempts: number; latest: Microseconds }>('deliveries.waiting', {
    now,
  });
  const late = waiting.filter(({ attempts, latest }) => latest > now + pauses(attempts));
  if (late.length === 0) return;
  await catalog.transaction(async (tx) => {
    for (const { attempts } of late) {
      await tx.statements.run('deliveries.hasten', { now, attempts, latest: now + pauses(attempts) });
    }
  });
}

/** Forgets what ended 30 days ago, not too many at a time: others wait for the transaction. */
export async function forgetDeliveries(catalog: Catalog, now: Microseconds): Promise<void> {
  const before = now - KEPT;
  if ((await catalog.statements.get('deliveries.ended', { before })) === undefined) return;
  await catalog.transaction(
    async (tx) => void (await tx.statements.run('deliveries.forget', { before, limit: FORGOTTEN })),
  );
}
