/** Waits for all, even if one fails, so that nothing goes on afterwards. Throws the first failure in their order. */
export async function allEnded<T extends readonly unknown[]>(
  running: readonly [...T],
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
