import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Nobody asks for so long, in milliseconds. */
const QUIET = 250;
/** Work is put off for at most so long, in milliseconds. */
const LONGEST = 2000;

/** Calls `start` when nobody asks a server, nor waits for it, for a moment; or soon anyway. Returns what cancels this. */
export function whenQuiet(server: Server, start: () => void): () => void {
  const begin = (): void => {
    cancel();
    start();
  };
  let quiet: NodeJS.Timeout | undefined = setTimeout(begin, QUIET);
  const latest = setTimeout(begin, LONGEST);
  let waiting = 0;
  const answered = (): void => {
    waiting--;
    if (waiting === 0 && quiet !== undefined) quiet = setTimeout(begin, QUIET);
  };
  const asked = (_: IncomingMessage, response: ServerResponse): void => {
    waiting++;
    clearTimeout(quiet);
    response.once('close', answered);
  };
  const cancel = (): void => {
    clearTimeout(quiet);
    clearTimeout(latest);
    quiet = undefined;
    server.off('request', asked);
  };
  server.on('request', asked);
  return cancel;
}
