import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AttemptResult } from '../catalog/deliveries.ts';
import { request as requestHttp } from '../runtime/http.ts';
import type { ResolvedAddress } from './addresses.ts';

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
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a body. Follows no redirect. Rejects if the connection fails; where only the end of an answer is missing, it
 * counts as far as it came.
 */
export function post({ url, addresses, headers, body, signal }: Post): Promise<PostAnswer> {
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
export function outcomeOf(status: number): AttemptResult['outcome'] {
  if (status >= 200 && status < 300) return 'sent';
  return status === 410 ? 'gone' : 'retry';
}
