/**
 * What an entry of a cache takes besides its bytes: 550 bytes of objects, and what the allocator adds. Without it, a cache of
 * short entries would take twice its size.
 */
export const ENTRY_BYTES = 800;

/**
 * The same bytes in memory of their own. Node cuts short buffers from larger ones, all of which would stay in memory,
 * uncounted, for as long as a cache holds one of its parts.
 */
export function withOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
