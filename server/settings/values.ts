import { isIP } from 'node:net';

/** The use of a setting; `all` means every command. */
export type Use =
  | 'all'
  | 'catalog'
  | 'files'
  | 'secrets'
  | 'duckdb'
  | 'facts'
  | 'lists'
  | 'providers'
  | 'sync'
  | 'retention'
  | 'jobs'
  | 'address'
  | 'feeds'
  | 'channels'
  | 'delivery'
  | 'server';

/** One setting of the environment. */
export interface Setting<T> {
  readonly name: string;
  /** The help of a command lists the settings of its uses. */
  readonly uses: readonly Use[];
  /** Its name in the previous version, which is still accepted with a warning. */
  readonly formerly?: string;
  /** As written in the environment. */
  readonly fallback: string;
  /** The default as help and docs/settings.md show it. */
  readonly shown: string;
  readonly help: string;
  /** A description of valid values. */
  readonly wanted: string;
  /** Its value may contain a password, so that no message shows it. */
  readonly isSecret?: boolean;
  /** Undefined for a malformed text. */
  readonly read: (text: string) => T | undefined;
}

export function setting<T>(entry: Omit<Setting<T>, 'shown'> & { shown?: string }): Setting<T> {
  return { shown: entry.fallback, ...entry };
}

export function wholeNumber(text: string, least: number, most: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}

export const SIZE = /^([1-9]\d*) ?(MB|GB|TB)$/;
const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };

/** Bytes. */
export function size(text: string): number | undefined {
  const [, count, unit] = SIZE.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * UNITS[unit]!;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The address of a Redis, with an optional user, password and number of a database. */
export function isRedisUrl(text: string): boolean {
  if (!/^rediss?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false;
  const { hostname, pathname, username, password } = new URL(text);
  return hostname !== '' && /^(\/\d*)?$/.test(pathname) && [username, password].every(isEncoded);
}

/** The address of a Trino, with an optional user, password, catalog and schema. A password is sent over https only. */
export function isTrinoUrl(text: string): boolean {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  if (protocol === 'http:' && password !== '') return false;
  return /^(\/\w+(\/\w+)?)?\/?$/.test(pathname) && search + hash === '' && [username, password].every(isEncoded);
}

/** The address of a mail server, with an optional user and password. */
export function isSmtpUrl(text: string): boolean {
  if (!/^smtps?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false;
  const { hostname, port, pathname, search, hash, username, password } = new URL(text);
  if (hostname === '' || port === '' || (username === '' && password !== '')) return false;
  return /^\/?$/.test(pathname) && search + hash === '' && [username, password].every(isEncoded);
}

/** `reports@example.com` or `Name <reports@example.com>`, on one line. */
export function isMailbox(text: string): boolean {
  const [, address = text] = /^[^<>\p{Cc}]*<([^<>]+)>$/u.exec(text) ?? [];
  return isMailAddress(address);
}

/** One address of mail without a name. */
export function isMailAddress(text: string): boolean {
  return (
    text.length <= 254 && /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(text)
  );
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** An address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || wholeNumber(prefix, 0, version === 4 ? 32 : 128) !== undefined;
}

/** As browsers send it: a scheme, a host and an optional port, without a path. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** HTTPS, or HTTP that stays on the machine. */
export function isSafeOrigin(text: string): boolean {
  return /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(text);
}

export function isDatabaseUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text) && new URL(text).pathname.length > 1;
}
