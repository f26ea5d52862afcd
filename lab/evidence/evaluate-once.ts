import '../../cli/threads.ts';
import { readFileSync } from 'node:fs';
import { evaluateProject } from '../../server/alerts/evaluate.ts';
import { withFacts } from '../../server/alerts/with-facts.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { countDays } from '../../server/domain/dates.ts';
import { readSettings } from '../../server/settings/settings.ts';

/** Evaluates a project up to its last day and prints the cost. Runs in its own process. */
const settings = readSettings(process.env);
await using catalog = await openCatalog(settings);
await withFacts({ settings, catalog }, async (facts) => {
  const before = megabytes('VmRSS');
  const started = performance.now();
  const cpu = process.cpuUsage();
  const { range } = (await evaluateProject({ catalog, facts }, 'Proj1'))!;
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const days = countDays(range.from, range.to);
  process.stdout.write(
    JSON.stringify({ seconds, processor: (user + system) / 1e6, days, before, peak: megabytes('VmHWM') }),
  );
});

/** A line of the Linux status of this process. */
function megabytes(name: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}
