import { InvalidArgumentError } from 'commander';

/** Reads the value of an option that is a count. */
export function readCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= 100_000)) throw new InvalidArgumentError('It must be a whole number from 0 to 100000.');
  return count;
}
