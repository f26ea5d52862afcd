// Preloaded into a server: writes when its event loop came late, and by how many milliseconds, to the file that the
// environment names.
import { appendFileSync } from 'node:fs';

const file = process.env['BENCH_LOOP_DELAYS']!;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - last > 6) appendFileSync(file, `${performance.timeOrigin + now} ${(now - last - 1).toFixed(1)}\n`);
  last = performance.now();
}, 1).unref();
