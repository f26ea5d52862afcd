// Preloaded into a server: writes the processor time of long turns of its event loop to the file that the environment names.
// Time in which other processes had the processor does not count.
import { appendFileSync } from 'node:fs';

const file = process.env['BENCH_LOOP_DELAYS']!;
let last = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  const taken = (user + system) / 1000;
  if (taken > 5) appendFileSync(file, `${performance.timeOrigin + performance.now()} ${taken.toFixed(1)}\n`);
  last = process.threadCpuUsage();
}, 1).unref();
