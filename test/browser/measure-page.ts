// Measures the dashboard beside time: `node test/browser/measure-page.ts` prints bytes, what moves, and requests of one person.
import t from 'tap';
import { buildDashboard } from '../../cli/dashboard.ts';
import { EVERYWHERE, HUGE, NARROW, open, origin, pathsAsked, SHIFTS, signedIn, WIDE } from './setup.ts';

t.setTimeout(900_000);
/** One click in so many milliseconds, for a minute. */
const CLICK = 500;

const { first, later } = await buildDashboard();
const total = first.reduce((sum, { gzip }) => sum + gzip, 0);
const largest = later.toSorted((a, b) => b.gzip - a.gzip)[0]!;
console.log(
  `First screen: ${(total / 1000).toFixed(1)} kB with gzip; later at most ${(largest.gzip / 1000).toFixed(1)} kB (${largest.name})`,
);

for (const viewport of [NARROW, WIDE, HUGE]) {
  const context = await signedIn({ viewport });
  const page = await context.newPage();
  await page.addInitScript(SHIFTS);
  const moved: [string, number][] = [];
  for (const path of EVERYWHERE) {
    await open(page, path);
    moved.push([path, (await page.evaluate('window.shifts')) as number]);
  }
  const [where, most] = moved.toSorted(([, a], [, b]) => b - a)[0]!;
  console.log(`${viewport.width} pixels: CLS at most ${most.toFixed(3)}, on ${where}, of ${moved.length} screens`);
  await context.close();
}

const context = await signedIn();
const page = await context.newPage();
let requests = 0;
let refused = 0;
const asked: string[] = [];
page.on('request', (request) => {
  if (!request.url().startsWith(`${origin}/app/api/`)) return;
  requests++;
  asked.push(...pathsAsked(request.url()));
});
page.on('response', (response) => {
  if (response.status() === 429) refused++;
});
await open(page, '/app/p/Proj1');
const links = ['Explain', 'Queries', 'Pages', 'Keywords', 'Breakdowns', 'Alerts', 'Notes', 'Data', 'Overview'];
const periods = ['7d', '3m', '6m', '28d', '12m'];
const clicks = 60_000 / CLICK;
[requests, asked.length] = [0, 0];
for (let click = 0; click < clicks; click++) {
  if (click % 3 === 2 && (await page.getByLabel('Period', { exact: true }).count()) > 0) {
    await page.getByLabel('Period', { exact: true }).selectOption(periods[click % periods.length]!);
  } else {
    await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link', { name: links[click % links.length]!, exact: true })
      .click();
  }
  await page.waitForTimeout(CLICK);
}
console.log(
  `${clicks} clicks, one in ${CLICK} ms: ${requests} requests of ${asked.length} answers, ${refused} refused; 600 a minute are allowed`,
);
await context.close();
