import type { FastifyInstance } from 'fastify';

/**
 * Runs `work` once the server listens, and aborts it when the server closes, which waits for it. A failure is a warning.
 * @param failed what the warning says
 * @returns what runs, if it does
 */
export function whileListening(
  app: FastifyInstance,
  failed: string,
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> | undefined {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  app.addHook('onListen', (done) => {
    running = work(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) app.log.warn({ err: error }, failed);
      })
      .finally(() => {
        running = undefined;
      });
    done();
  });
  app.addHook('preClose', async () => {
    stopping.abort();
    await running;
  });
  return () => running;
}
