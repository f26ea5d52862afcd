import * as crypto from 'node:crypto';
import type { Random } from '../../../test/random.ts';

/** The module `node:crypto`, whose ids and keys a seed decides. */
export function chosenBy(random: Random) {
  const randomBytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => random.whole(0, 255)));
  return {
    ...crypto,
    randomBytes,
    randomInt: (a: number, b?: number) => (b === undefined ? random.whole(0, a - 1) : random.whole(a, b - 1)),
    randomUUID: () => uuidOf(randomBytes(16)),
  };
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
