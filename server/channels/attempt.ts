import { addressOf, type Channel, secretsOf } from '../catalog/channels.ts';
import type { AttemptResult } from '../catalog/deliveries.ts';
import type { DeliveryBody } from '../catalog/delivery-body.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { SecretsFailure } from '../runtime/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { AddressRefused, parseAddress, type Resolve, resolveAddress } from './addresses.ts';
import { chatBody } from './chat.ts';
import { messageOf } from './message.ts';
import { orAborted } from './or-aborted.ts';
import { outcomeOf, post } from './post.ts';
import { shorten } from './shorten.ts';
import { signedHeaders } from './webhook.ts';

export interface AttemptOptions {
  readonly settings: Settings;
  /** Milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
}

/** The body of a delivery as it is sent: with addresses in place of the paths of links. */
export function renderBody(body: string, publicUrl: string | null): string {
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if ((name !== 'link' && name !== 'url') || typeof value !== 'string' || !value.startsWith('/')) return value;
    return publicUrl === null ? null : publicUrl + value;
  });
}

/** Sends a delivery once. Never rejects, except when `signal` is aborted. */
export async function attempt(
  channel: Channel,
  delivery: { readonly id: string; readonly body: string },
  { settings, now, signal, resolve }: AttemptOptions,
): Promise<AttemptResult> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(settings.deliverySeconds * 1000)]);
  try {
    if (channel.kind === 'email') {
      // The package is loaded only if mail is sent.
      const { sendMail } = await import('./mail.ts');
      return await sendMail(channel, delivery, { settings, now, signal: limit });
    }
    const loopback = settings.deliveryLoopback;
    const url = parseAddress(addressOf(settings, channel), { loopback });
    const resolving = resolveAddress(url, { loopback, ...(resolve && { resolve }) });
    const addresses = await orAborted(resolving, limit);
    const { body } = delivery;
    const isWebhook = channel.kind === 'webhook';
    const headers = isWebhook
      ? signedHeaders(delivery, secretsOf(settings, channel, toMicroseconds(now())), Math.floor(now() / 1000))
      : {};
    const sent = isWebhook ? body : chatBody(channel.kind, messageOf(JSON.parse(body) as DeliveryBody));
    const { status, text } = await post({ url, addresses, headers, body: sent, signal: limit });
    // A receiver may answer with what it got: the path of a chat is a secret.
    const secrets = [url.href, url.pathname + url.search, url.pathname, url.search].filter((part) => part.length > 8);
    return { outcome: outcomeOf(status), status, answer: shorten(withoutSecrets(text, secrets)) };
  } catch (error) {
    signal.throwIfAborted();
    return { outcome: 'retry', status: null, answer: shorten(reasonOf(error, limit)) };
  }
}

/** Why there was no answer, without the address. */
function reasonOf(error: unknown, limit: AbortSignal): string {
  if (error instanceof AddressRefused) return `address refused: it ${error.message}`;
  if (error instanceof SecretsFailure) return 'the key of its secrets is missing';
  if (limit.aborted) return 'no answer in time';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? `no answer: ${code}` : 'no answer';
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}
