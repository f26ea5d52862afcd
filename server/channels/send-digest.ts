import type { OpenCatalog } from '../catalog/catalog.ts';
import type { Channel, ChannelWriter } from '../catalog/channels.ts';
import type { DeliveryBody } from '../catalog/delivery-body.ts';
import type { Day } from '../domain/dates.ts';
import type { DigestPeriod } from '../domain/digest-periods.ts';
import { withReports } from '../presets/with-reports.ts';
import type { Settings } from '../settings/settings.ts';
import { renderBody } from './attempt.ts';
import { sendNow, shownDelivery } from './channels.ts';
import { composeDigest, withoutDays } from './digest.ts';
import { messageOf } from './message.ts';

/** A digest as a webhook gets it, in words, and what became of it where it was sent. */
interface SentDigest {
  readonly body: DeliveryBody;
  readonly words: string;
  readonly delivery?: ReturnType<typeof shownDelivery>;
}

/** The command prints the result. */
const QUIET = { info: () => {}, warn: () => {} };

/** Composes the digest of a channel and sends it once, in this process; `isDry` sends nothing. */
export async function sendDigest(
  { settings, catalog }: { settings: Settings; catalog: OpenCatalog },
  channel: Channel,
  { period, asOf, isDry }: { period: DigestPeriod; asOf: Day; isDry: boolean },
  writer: ChannelWriter,
): Promise<SentDigest> {
  const { signal } = new AbortController();
  const now = writer.at / 1000;
  const full = await withReports({ settings, catalog, log: QUIET, now: () => now }, (sources) =>
    composeDigest(sources, channel, { period, asOf, signal }),
  );
  const short = withoutDays(full);
  const body = JSON.parse(renderBody(JSON.stringify(short), settings.publicUrl)) as DeliveryBody;
  const { title, lines } = messageOf(body);
  const words = [title, ...lines].join('\n');
  if (isDry) return { body, words };
  const { range } = full.data;
  const event = {
    event: full.type,
    subject: `${range?.from}..${range?.to}`,
    body: channel.kind === 'email' ? full : short,
  };
  const delivery = await sendNow({ settings, catalog }, channel, event, writer, { signal });
  return { body, words, delivery: shownDelivery(delivery) };
}
