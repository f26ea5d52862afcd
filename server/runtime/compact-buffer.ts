/**
 * The overhead of a cache entry: 550 bytes of objects, and that of the allocator. Without it, a cache of short entries
 * would take twice its size.
 */
export const ENTRY_BYTES = 800;

/**
 * Copies bytes to separate memory. Node cuts short buffers from larger ones, all of which would stay in memory,
 * uncounted, for as long as a cache holds one of the parts.
 */
export function withOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
