/** Results of `read` for each item, in order. While the consumer uses one, the next is read; never more than one. */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  read: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const start = (index: number): Promise<Result> | undefined => {
    if (index >= items.length) return undefined;
    const reading = read(items[index]!, index);
    // It is never awaited if the consumer stops early.
    reading.catch(() => {});
    return reading;
  };
  let next = start(0);
  for (let index = 1; next !== undefined; index++) {
    const result: Result = await next;
    next = start(index);
    yield result;
  }
}
