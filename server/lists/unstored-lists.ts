import type { StoredList } from '../catalog/stored-lists.ts';
import type { ListRow } from './blocks.ts';
import { Recent } from './recent.ts';

/** A list, stored or not. */
export type AnyList = StoredList & {
  /** The rows, if they could not be stored. */
  readonly held?: readonly ListRow[];
};

/** How long an empty list is served before it is fetched again, in milliseconds. */
const EMPTY_VALID = 60_000;
/** How long a list that could not be stored is served from memory, in milliseconds. */
const HELD_VALID = 600_000;
/** Maximum rows of all such lists, about 100 bytes each. */
const MAX_HELD_ROWS = 300_000;
const MAX_EMPTY = 10_000;

/** Lists of this process without a file: empty lists, and lists that could not be stored. */
export class UnstoredLists {
  readonly #empty: Recent<AnyList>;
  readonly #held: Recent<AnyList>;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#empty = new Recent(now, EMPTY_VALID, MAX_EMPTY);
    this.#held = new Recent(now, HELD_VALID, MAX_HELD_ROWS, ({ rows }) => Math.max(1, rows));
  }

  find(key: string): AnyList | undefined {
    return this.#held.get(key) ?? this.#empty.get(key);
  }

  keep(key: string, list: AnyList): AnyList {
    (list.held === undefined ? this.#empty : this.#held).set(key, list);
    return list;
  }

  forget(key: string): void {
    this.#held.delete(key);
    this.#empty.delete(key);
  }
}
