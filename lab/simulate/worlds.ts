import { Random } from '../../test/random.ts';
import type { World } from './world.ts';
import { facts } from './worlds/facts.ts';
import { jobs } from './worlds/jobs.ts';
import { lists } from './worlds/lists.ts';
import { storage } from './worlds/storage.ts';
import { sync } from './worlds/sync.ts';
import { versions } from './worlds/versions.ts';

/** All worlds, with their shares of the seeds. Those with servers and queries take longest: one in ten seeds is theirs. */
const SHARES: readonly (readonly [World, number])[] = [
  [jobs, 4],
  [storage, 5],
  [versions, 5],
  [lists, 2],
  [sync, 2],
  [facts, 2],
];

const WORLDS: readonly World[] = SHARES.map(([world]) => world);

/**
 * The world of a seed. Successive seeds, as many as there are shares, have each world as often as its share says.
 * @param hasCatalog only worlds whose processes share a catalog
 */
export function worldOf(seed: number, hasCatalog = false): World {
  const shares = SHARES.filter(([world]) => world.hasCatalog || !hasCatalog).flatMap(([world, share]) =>
    Array.from({ length: share }, () => world),
  );
  // The first seed is 1.
  const at = seed + shares.length - 1;
  const random = new Random(Math.floor(at / shares.length)).fork('world');
  const order = shares.map((world) => ({ world, place: random.next() })).sort((a, b) => a.place - b.place);
  return order[at % shares.length]!.world;
}

/** @throws if there is no such world */
export function worldNamed(name: string): World {
  const world = WORLDS.find((each) => each.name === name);
  if (world === undefined)
    throw new Error(`There is no world '${name}'; there are ${WORLDS.map((each) => each.name).join(', ')}.`);
  return world;
}
