import type { FastifyRequest } from 'fastify';
import { KnownError } from '../domain/errors.ts';

/** A browser takes it from this very origin over HTTPS only, so that no other host can set one. */
const SECURE_NAME = '__Host-ordinate';
/** Browsers refuse the other one over plain HTTP, which is safe where it stays on the machine. */
const LOOPBACK_NAME = 'ordinate';

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** The value of a cookie that came with a request. */
export function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
  return parseCookies(headers.cookie).get(name);
}

/** The secret of the session whose cookie came with a request. */
export function sessionCookie(request: FastifyRequest): string | undefined {
  const cookies = parseCookies(request.headers.cookie);
  return cookies.get(SECURE_NAME) ?? (isPlainLoopback(request) ? cookies.get(LOOPBACK_NAME) : undefined);
}

/** A `Set-Cookie` header for a session. */
export function setSessionCookie(request: FastifyRequest, token: string, seconds: number): string {
  return isPlainLoopback(request)
    ? `${LOOPBACK_NAME}=${token}; Path=/app; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
    : `${SECURE_NAME}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`;
}

/** A `Set-Cookie` header that removes the cookie of a session. */
export function clearSessionCookie(request: FastifyRequest): string {
  return setSessionCookie(request, '', 0);
}

/**
 * Throws `forbidden` for requests that no page of this very origin has sent: a cookie comes with any request.
 * @param publicUrl the origin at which browsers reach this server; null if it is not set
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (origin !== undefined && origin !== publicUrl && origin !== ownOrigin(request, publicUrl)) {
    const message = `This address answers the dashboard of this server only, not pages of '${origin.slice(0, 100)}'.`;
    throw new KnownError(
      'forbidden',
      `${message} Behind a proxy, ORDINATE_PUBLIC_URL must be the address in the browser.`,
    );
  }
  if (site === 'same-origin') return;
  const what =
    site === undefined
      ? 'Browsers say so over HTTPS, or over HTTP at localhost. Programs use /api/v1 with a key.'
      : `This one came from elsewhere (Sec-Fetch-Site: ${String(site).slice(0, 20)}).`;
  throw new KnownError('forbidden', `This address answers the dashboard of this server only. ${what}`);
}

/**
 * The origin of the address that was asked. That of the public URL is known; a proxy that may be trusted says of others
 * whether it has ended HTTPS.
 */
function ownOrigin({ protocol, headers: { host = '' } }: FastifyRequest, publicUrl: string | null): string {
  return publicUrl !== null && new URL(publicUrl).host === host ? publicUrl : `${protocol}://${host}`;
}

/** Whether a browser sees this server over plain HTTP at a loopback address. */
export function isPlainLoopback({ protocol, headers }: FastifyRequest): boolean {
  // What the browser says goes before what a proxy may have changed.
  const { origin } = headers;
  if (origin !== undefined) return origin.startsWith('http://') && LOOPBACK.test(origin.slice('http://'.length));
  return protocol === 'http' && LOOPBACK.test(headers.host ?? '');
}

function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  });
  return new Map(pairs);
}
