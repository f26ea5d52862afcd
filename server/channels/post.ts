import { createHmac } from 'node:crypto';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { addressOf, type Channel, secretsOf } from '../catalog/channels.ts';
import type { AttemptResult, DeliveryBody } from '../catalog/deliveries.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { request as requestHttp } from '../runtime/http.ts';
import { orAborted } from '../runtime/promises.ts';
import { SecretsFailure } from '../runtime/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { AddressRefused, parseAddress, type Resolve, type ResolvedAddress, resolveAddress } from './addresses.ts';
import { chatBody } from './chat.ts';
import { messageOf, shorten } from './message.ts';

/** What is read of an answer, in bytes. */
const MAX_ANSWER = 4096;

interface Post {
  readonly url: URL;
  /** Those of its host, which were checked: nothing else is connected to. */
  readonly addresses: readonly ResolvedAddress[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** An answer to a request; its text is cut. */
interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a body. Follows no redirect. Rejects if the connection fails; where only the end of an answer is missing, it
 * counts as far as it came.
 */
function post({ url, addresses, headers, body, signal }: Post): Promise<PostAnswer> {
  const pinned: LookupFunction = (_host, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    let hasAnswer = false;
    const request = send(url, {
      method: 'POST',
      // A connection of its own, to the addresses that were checked for it.
      agent: false,
      lookup: pinned,
      signal,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Ordinate',
      },
    });
    // Without effect after a response: its status counts, even if its end does not come in time.
    request.on('error', (error) => hasAnswer || reject(error));
    request.on('response', (response) => {
      hasAnswer = true;
      const parts: Buffer[] = [];
      let length = 0;
      const done = (): void => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).subarray(0, MAX_ANSWER).toString() });
        request.destroy();
      };
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length >= MAX_ANSWER) done();
      });
      response.on('end', done).on('error', done).on('close', done);
    });
    request.end(body);
  });
}

/** What an answer of a status means. */
function outcomeOf(status: number): AttemptResult['outcome'] {
  if (status >= 200 && status < 300) return 'sent';
  return status === 410 ? 'gone' : 'retry';
}

/**
 * The headers of a message as Standard Webhooks signs them: one signature for each secret, the current one first.
 * @param seconds of the attempt, since 1970
 */
function signedHeaders(
  { id, body }: { id: string; body: string },
  secrets: readonly string[],
  seconds: number,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') };
}

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
