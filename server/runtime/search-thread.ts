// Runs in a thread: finds expressions in texts. The thread is ended if that takes too long.
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { compileExpression, type Expression } from '../domain/expressions.ts';

/** Compiled expressions; each may keep 8 MB of states. */
const MAX_COMPILED = 8;

const compiled = new LRUCache<CacheKey, (text: string) => boolean>({ max: MAX_COMPILED });

try {
  // On Linux threads have a priority each: other answers go first.
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL);
} catch {}

parentPort!.on('message', ({ expression, texts }: { expression: Expression; texts: readonly string[] }) => {
  const key = cacheKey(expression);
  const isFound = compiled.get(key) ?? compileExpression(expression);
  compiled.set(key, isFound);
  parentPort!.postMessage(Uint8Array.from(texts, (text) => Number(isFound(text))));
});
