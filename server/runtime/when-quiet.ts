import type { Server } from 'node:http';

/** Nobody asks for so long, in milliseconds. */
const QUIET = 250;
/** Work is put off for at most so long, in milliseconds. */
const LONGEST = 2000;

/** Calls `start` when nobody asks a server for a moment, or soon anyway. Returns what cancels this. */
export function whenQuiet(server: Server, start: () => void): () => void {
  const begin = (): void => {
    cancel();
    start();
  };
  let quiet = setTimeout(begin, QUIET);
  const latest = setTimeout(begin, LONGEST);
  const wait = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(begin, QUIET);
  };
  const cancel = (): void => {
    clearTimeout(quiet);
    clearTimeout(latest);
    server.off('request', wait);
  };
  server.on('request', wait);
  return cancel;
}
