import { createHmac } from 'node:crypto';
import type { Received } from '../fakes/receiver.ts';

/** Whether one of the signatures of a request is that of a secret. */
export function verifies({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
