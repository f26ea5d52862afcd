import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Share } from '../catalog/keys.ts';
import { isPlainLoopback, readCookie } from './session-cookie.ts';

const NAME = 'ordinate-share';
const SECONDS = 12 * 3600;

/** When it ends, in seconds, and a signature. Only who knew the password has one; another password makes others. */
function cookieUntil({ id, passwordHash }: Share, end: number): string {
  const signature = createHmac('sha256', passwordHash ?? '').update(`${id} ${end}`);
  return `${end}.${signature.digest('base64url')}`;
}

/** A `Set-Cookie` header for somebody who sent the password. @param now milliseconds */
export function openCookie(request: FastifyRequest, share: Share, now: number): string {
  const { token } = request.params as { token: string };
  const secure = isPlainLoopback(request) ? '' : '; Secure';
  const value = cookieUntil(share, Math.floor(now / 1000) + SECONDS);
  return `${NAME}=${value}; Path=/share/${token}; Max-Age=${SECONDS}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether a request comes from somebody who sent the password, and not too long ago. @param now milliseconds */
export function isOpenedBy(request: FastifyRequest, share: Share, now: number): boolean {
  const cookie = readCookie(request, NAME) ?? '';
  // Checked here too: a browser is free to keep a cookie.
  const end = Number(/^(\d{1,12})\./.exec(cookie)?.[1] ?? 0);
  if (end * 1000 <= now) return false;
  const given = Buffer.from(cookie);
  const wanted = Buffer.from(cookieUntil(share, end));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
