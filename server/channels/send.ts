import { actorOf } from '../catalog/audit.ts';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { findChannel } from '../catalog/channels.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  endAttempt,
  forgetDeliveries,
  hastenDeliveries,
  renewClaims,
} from '../catalog/deliveries.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { measure, secondsSince } from '../runtime/measurements.ts';
import { type AttemptOptions, attempt, renderBody } from './post.ts';

interface SendOptions extends Omit<AttemptOptions, 'signal'> {
  readonly signal: AbortSignal;
  /** Resolves after some milliseconds, or when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Called with an error that has nothing to do with a receiver. */
  readonly onError: (error: unknown, delivery: string) => void;
}

/** How many deliveries ended how. */
export interface Sent {
  sent: number;
  failed: number;
}

/** While attempts run, milliseconds after which to look for others that are due. */
const LOOK = 500;
/** Milliseconds to wait for attempts that end together: claims of several are one transaction. */
const GATHER = 100;
/** Milliseconds after which claims are renewed. */
const RENEW = 8000;
/** Clocks of nodes may differ by so many milliseconds. */
const CLOCK_DIFFERENCE = 60_000;
/** Random share by which a pause is longer or shorter. The last one is not shorter: it decides what is missed. */
const JITTER = 0.2;

/**
 * Sends all deliveries that are due, and those that become due while attempts run. Deliveries of a channel wait for nothing
 * of another.
 */
export async function sendDue(catalog: OpenCatalog, options: SendOptions): Promise<Sent> {
  const { settings, now, signal, sleep } = options;
  const micros = (): number => toMicroseconds(now());
  const total: Sent = { sent: 0, failed: 0 };
  const running = new Map<ClaimedDelivery, Promise<void>>();
  const render = (body: string): string => renderBody(body, settings.publicUrl);
  await forgetDeliveries(catalog, micros());
  const pauses = (attempts: number): number =>
    toMicroseconds((settings.deliveryRetries[attempts - 1] ?? 0) * (1 + JITTER) + CLOCK_DIFFERENCE);
  await hastenDeliveries(catalog, micros(), pauses);
  let renewedAt = now();
  try {
    for (;;) {
      signal.throwIfAborted();
      // Before others are looked for: after a jump of the clock, these would be found. It may have been set back.
      if (now() - renewedAt >= RENEW || now() < renewedAt) {
        renewedAt = now();
        await renewClaims(catalog, [...running.keys()], micros());
      }
      const claimed = await claimDeliveries(catalog, micros(), render);
      for (const delivery of claimed) {
        const sending = sendOne(catalog, delivery, options, total)
          .catch((error: unknown) => {
            if (!signal.aborted) options.onError(error, delivery.id);
          })
          .finally(() => running.delete(delivery));
        running.set(delivery, sending);
      }
      if (running.size === 0) return total;
      const rested = new AbortController();
      await Promise.race([...running.values(), sleep(LOOK, AbortSignal.any([signal, rested.signal]))]);
      rested.abort();
      await sleep(GATHER, signal);
    }
  } finally {
    // They end with the signal at the latest, and need the catalog until then.
    await Promise.allSettled(running.values());
  }
}

async function sendOne(
  catalog: OpenCatalog,
  delivery: ClaimedDelivery,
  { settings, now, signal, random, resolve }: SendOptions,
  total: Sent,
): Promise<void> {
  const channel = await findChannel(catalog, delivery.channel);
  if (channel === undefined) return;
  const started = performance.now();
  const result = await attempt(channel, delivery, { settings, now, signal, ...(resolve && { resolve }) });
  measure('deliveryAttempt', () => ({ outcome: result.outcome, seconds: secondsSince(started) }));
  const ended = now();
  const nextAt = (attempts: number): number | null => {
    const pause = settings.deliveryRetries[attempts - 1];
    if (pause === undefined) return null;
    const share = JITTER * (2 * random() - 1);
    const isLast = attempts === settings.deliveryRetries.length;
    return toMicroseconds(ended + Math.round(pause * (1 + (isLast ? Math.max(0, share) : share))));
  };
  const writer = { by: actorOf(null), at: toMicroseconds(ended) };
  const state = await endAttempt(catalog, delivery, result, { ...writer, nextAt });
  if (state === 'sent') total.sent++;
  if (state === 'failed') total.failed++;
}
