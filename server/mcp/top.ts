/** The few largest of many. Equal ones stay in the order in which they came. */
export class Top<Item> {
  readonly #count: number;
  readonly #kept: { readonly value: number; readonly item: Item }[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** @param make called only for items that are kept for now */
  add(value: number, make: () => Item): void {
    const last = this.#kept.at(-1);
    if (this.#kept.length === this.#count && value <= last!.value) return;
    const at = this.#kept.findIndex((kept) => kept.value < value);
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, { value, item: make() });
    this.#kept.length = Math.min(this.#kept.length, this.#count);
  }

  get items(): Item[] {
    return this.#kept.map(({ item }) => item);
  }
}
