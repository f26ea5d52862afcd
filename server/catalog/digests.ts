import type { DigestPeriod } from '../domain/digest-periods.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { findChannel } from './channels.ts';
import type { DeliveryBody } from './delivery-body.ts';
import { deliveryId } from './outbox.ts';

/** What channels hear, by the period that a digest is about. */
export const DIGEST_EVENTS = { week: 'digest.weekly', month: 'digest.monthly' } as const;

/** A digest of a channel: one for each period. */
export interface DigestOf {
  readonly channel: string;
  readonly event: (typeof DIGEST_EVENTS)[DigestPeriod];
  /** The first and the last day. */
  readonly subject: string;
}

/** Whether a digest was written. */
export async function hasDigest(catalog: Catalog, digest: DigestOf): Promise<boolean> {
  return (await catalog.statements.get('deliveries.one', { id: idOf(digest) })) !== undefined;
}

/** The ids of notes whose verdicts earlier digests of a channel have listed. */
export async function listedVerdicts(
  catalog: Catalog,
  { channel, event }: Pick<DigestOf, 'channel' | 'event'>,
): Promise<ReadonlySet<string>> {
  const rows = await catalog.statements.all<{ note: string }>('deliveries.verdicts', { channel, event });
  return new Set(rows.map(({ note }) => note));
}

/** Writes a digest, once; not for a channel that was disabled or removed meanwhile. Returns whether it did. */
export async function announceDigest(
  catalog: Catalog,
  digest: DigestOf,
  body: DeliveryBody,
  at: Microseconds,
): Promise<boolean> {
  const { channel, event, subject } = digest;
  return catalog.transaction(async (tx) => {
    const { state = 'disabled', events = [] } = (await findChannel(tx, channel)) ?? {};
    if (state !== 'on' || !events.includes(event)) return false;
    const values = { id: idOf(digest), channel, event, subject, body: JSON.stringify(body) };
    if ((await tx.statements.run('deliveries.add', { ...values, nextAt: 0, createdAt: at })) === 0) return false;
    for (const { note } of (body.data.projects ?? []).flatMap(({ verdicts = [] }) => verdicts)) {
      await tx.statements.run('deliveries.add_verdict', { channel, event, note: note.id });
    }
    return true;
  });
}

const idOf = ({ channel, event, subject }: DigestOf): string => deliveryId(channel, [event, subject]);
