declare const brand: unique symbol;

/** A key of several parts. Only `cacheKey` returns this type, so that caches cannot be used with any other key. */
export type CacheKey = string & { readonly [brand]: true };

/**
 * One key for several parts; different parts never give the same key. Joining parts by a separator would (`a` and `b c`,
 * `a b` and `c`), and one workspace could read cached data of another.
 * @param parts texts, numbers, and plain data that JSON writes in full
 */
export function cacheKey(...parts: readonly CacheKeyPart[]): CacheKey {
  return JSON.stringify(parts) as CacheKey;
}

type CacheKeyPart = string | number | boolean | null | object;
