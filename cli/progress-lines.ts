const INTERVAL_MS = 3000;

/**
 * Progress without a terminal: the first step at once, then the current step every few seconds, with the seconds since
 * the start.
 */
export function progressLines(write: (line: string) => unknown): { report: (step: string) => void; end: () => void } {
  const started = Date.now();
  let current: string | undefined;
  const timer = setInterval(() => {
    if (current !== undefined) write(`${current} (${Math.round((Date.now() - started) / 1000)} s)\n`);
  }, INTERVAL_MS).unref();
  return {
    report: (step) => {
      if (current === undefined) write(`${step}\n`);
      current = step;
    },
    end: () => clearInterval(timer),
  };
}
