import type { FastifyRequest } from 'fastify';
import { ATTEMPT_SECONDS } from '../catalog/connections.ts';
import { isPlainLoopback, readCookie } from './session-cookie.ts';

/** `Lax`: browsers leave the cookie of the session out when another site sends them back. */
const NAME = 'ordinate-connect';
const SECURE_NAME = `__Host-${NAME}`;

/** The value that came with a request. */
export function connectCookie(request: FastifyRequest): string | undefined {
  return readCookie(request, SECURE_NAME) ?? (isPlainLoopback(request) ? readCookie(request, NAME) : undefined);
}

/** A `Set-Cookie` header for an attempt to connect an account; an empty value ends it. */
export function setConnectCookie(request: FastifyRequest, value: string): string {
  const seconds = value === '' ? 0 : ATTEMPT_SECONDS;
  return isPlainLoopback(request)
    ? `${NAME}=${value}; Path=/app; Max-Age=${seconds}; HttpOnly; SameSite=Lax`
    : `${SECURE_NAME}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`;
}
