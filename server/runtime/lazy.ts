/** A value that is created on the first call and then shared; a failure is not cached. */
export function lazy<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    try {
      return await make();
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
  return () => {
    made ??= start();
    return made;
  };
}
