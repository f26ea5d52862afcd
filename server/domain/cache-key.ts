declare const brand: unique symbol;

/** A key made of several parts. Only `cacheKey` makes one, so that a cache that takes this type cannot be given another. */
export type CacheKey = string & { readonly [brand]: true };

/**
 * One key for several parts: different parts never give the same key, whatever they contain. Parts that are joined by a
 * separator do (`a` and `b c`, `a b` and `c`), and then one tenant reads what another has cached.
 * @param parts texts, numbers, and plain data that JSON writes in full
 */
export function cacheKey(...parts: readonly CacheKeyPart[]): CacheKey {
  return JSON.stringify(parts) as CacheKey;
}

type CacheKeyPart = string | number | boolean | null | object;
