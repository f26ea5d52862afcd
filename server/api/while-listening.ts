import type { FastifyInstance } from 'fastify';

/**
 * Runs `work` once the server listens, and aborts it when the server closes, which waits for it. A failure is a warning.
 * @param failed what the warning says
 */
export function whileListening(
  app: FastifyInstance,
  failed: string,
  work: (signal: AbortSignal) => Promise<void>,
): void {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  app.addHook('onListen', (done) => {
    running = work(signal).catch((error: unknown) => {
      if (!signal.aborted) app.log.warn({ err: error }, failed);
    });
    done();
  });
  app.addHook('preClose', async () => {
    stopping.abort();
    await running;
  });
}
