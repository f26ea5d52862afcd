import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Share } from '../catalog/shares.ts';
import { isPlainLoopback, readCookie } from './session-cookie.ts';

const NAME = 'ordinate-share';
const SECONDS = 12 * 3600;

/** Only who knew the password has it; another password makes another one. */
function secretOf({ id, passwordHash }: Share): string {
  return createHmac('sha256', passwordHash ?? '')
    .update(id)
    .digest('base64url');
}

/** A `Set-Cookie` header for somebody who sent the password. */
export function openCookie(request: FastifyRequest, share: Share): string {
  const { token } = request.params as { token: string };
  const secure = isPlainLoopback(request) ? '' : '; Secure';
  return `${NAME}=${secretOf(share)}; Path=/share/${token}; Max-Age=${SECONDS}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether a request comes from somebody who sent the password. */
export function isOpenedBy(request: FastifyRequest, share: Share): boolean {
  const given = Buffer.from(readCookie(request, NAME) ?? '');
  const wanted = Buffer.from(secretOf(share));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
