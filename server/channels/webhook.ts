import { createHmac } from 'node:crypto';

/**
 * The headers of a message as Standard Webhooks signs them: one signature for each secret, the current one first.
 * @param seconds of the attempt, since 1970
 */
export function signedHeaders(
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
