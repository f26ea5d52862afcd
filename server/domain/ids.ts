import { randomInt, randomUUID } from 'node:crypto';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Every key starts with it, so that leaked keys can be searched for. */
const KEY_PREFIX = 'ord_live_';
export const KEY_PATTERN = /^ord_live_[A-Za-z0-9]{32}$/;

const FEED_PREFIX = 'ord_feed_';
export const FEED_PATTERN = /^ord_feed_[A-Za-z0-9]{32}$/;
const LINK_PREFIX = 'ord_link_';
export const LINK_PATTERN = /^ord_link_[A-Za-z0-9]{32}$/;

const SESSION_PREFIX = 'ord_sess_';
export const SESSION_PATTERN = /^ord_sess_[A-Za-z0-9]{32}$/;

const UNSUBSCRIBE_PREFIX = 'ord_stop_';
export const UNSUBSCRIBE_PATTERN = /^ord_stop_[A-Za-z0-9]{32}$/;

const SHARE_PREFIX = 'ord_share_';
export const SHARE_PATTERN = /^ord_share_[A-Za-z0-9]{32}$/;

function lettersAndDigits(length: number): string {
  return Array.from({ length }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join('');
}

/** A new API key: 190 random bits, so it is safe to store a plain hash. */
export function newKey(): string {
  return KEY_PREFIX + lettersAndDigits(32);
}

/** A new feed token; as random as a key. */
export function newFeedToken(): string {
  return FEED_PREFIX + lettersAndDigits(32);
}

/** The secret of a new sign-in link; as random as a key. */
export function newLinkToken(): string {
  return LINK_PREFIX + lettersAndDigits(32);
}

/** The secret of a new session of the dashboard; as random as a key. */
export function newSessionToken(): string {
  return SESSION_PREFIX + lettersAndDigits(32);
}

/** The token of a new unsubscribe link; as random as a key. */
export function newUnsubscribeToken(): string {
  return UNSUBSCRIBE_PREFIX + lettersAndDigits(32);
}

/** The token of a new share; as random as a key. */
export function newShareToken(): string {
  return SHARE_PREFIX + lettersAndDigits(32);
}

/** A new short id for a project, group or keyword. The caller checks that it is unique. */
export function newShortId(): string {
  return lettersAndDigits(5);
}

/**
 * A short id as a number, for queries whose columns are all numbers: its bytes in big-endian order. In SQL:
 * `('0x' || hex(id))::bigint`.
 */
export function shortIdNumber(id: string): number {
  let number = 0;
  for (let at = 0; at < id.length; at++) number = number * 256 + id.charCodeAt(at);
  return number;
}

export function newUuid(): string {
  return randomUUID();
}
