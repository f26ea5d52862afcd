import type { StoredList } from '../catalog/stored-lists.ts';
import type { ListRow } from './blocks.ts';
import { Recent } from './recent.ts';

/** A list, stored or not. */
export type AnyList = StoredList & {
  /** The rows, if they could not be stored. */
  readonly held?: readonly ListRow[];
};

/** How long a list that could not be stored is served from memory, in milliseconds. */
const HELD_VALID = 600_000;
/** Maximum rows of all such lists, about 100 bytes each. */
const MAX_HELD_ROWS = 300_000;

/** Lists of this process that could not be stored. */
export class UnstoredLists {
  readonly #held: Recent<AnyList>;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#held = new Recent(now, HELD_VALID, MAX_HELD_ROWS, ({ rows }) => Math.max(1, rows));
  }

  find(key: string): AnyList | undefined {
    return this.#held.get(key);
  }

  keep(key: string, list: AnyList): AnyList {
    this.#held.set(key, list);
    return list;
  }

  forget(key: string): void {
    this.#held.delete(key);
  }
}
