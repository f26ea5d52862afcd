// Measures the dashboard in Chromium: `node test/browser/measure.ts ADDRESS` with the sign-in link that `npm start` prints.
import type { CDPSession } from 'playwright-core';
import { launch } from './browser.ts';

const RUNS = 10;
/** A screen is there when its chart is drawn and nothing is awaited. */
const READY = `document.querySelector('.performance canvas') !== null && document.querySelector('.skeleton, .is-stale') === null`;
const WATCH = `new MutationObserver(() => { if (${READY}) { window.readyAt ??= performance.now(); } })
  .observe(document, { childList: true, subtree: true, attributes: true })`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** Milliseconds of processor time that the main thread has used, whatever else the machine does; and a part of it. */
async function work(session: CDPSession): Promise<{ all: number; rendering: number }> {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string): number => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? 0);
  return { all: of('TaskDuration'), rendering: of('LayoutDuration') + of('RecalcStyleDuration') };
}

const link = process.argv[2];
if (link === undefined) throw new Error('Name the sign-in link that npm start prints.');
const { origin } = new URL(link);
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await page.goto(link);
await page.getByRole('heading', { name: 'Projects' }).waitFor();
const project = (await page.locator('.project-name a').first().getAttribute('href'))!;
await page.addInitScript(WATCH);
const session = await context.newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });

const first: number[] = [];

for (let run = 0; run < RUNS; run++) {
  // Half a minute's answers would count against the limit of requests.
  await page.waitForTimeout(2500);
  await page.goto(`${origin}${project}`);
  await page.waitForFunction(() => 'readyAt' in globalThis);
  first.push(
    (await page.evaluate(`window.readyAt - performance.getEntriesByType('navigation')[0].responseStart`)) as number,
  );
}

const changes: number[] = [];
const works: number[] = [];
const renderings: number[] = [];
for (const period of ['3m', '7d', '6m', '28d', '12m', '3m', '16m', '7d', '6m', '28d']) {
  await page.waitForTimeout(2500);
  const before = await work(session);
  const took = (await page.evaluate(`new Promise((done) => {
    const line = document.querySelector('.range-line').textContent;
    const started = performance.now();
    const check = () => {
      if (document.querySelector('.range-line').textContent === line || document.querySelector('.is-stale')) return;
      watch.disconnect();
      requestAnimationFrame(() => done(performance.now() - started));
    };
    const watch = new MutationObserver(check);
    watch.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
    const select = document.querySelector('[aria-label="Period"]');
    select.value = '${period}';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  })`)) as number;
  await page.waitForTimeout(300);
  const after = await work(session);
  changes.push(took);
  works.push(after.all - before.all);
  renderings.push(after.rendering - before.rendering);
}
await browser.close();

const shown = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
console.log(`First screen complete after its first byte: ${shown(first)}`);
console.log(`Change of the range until it is drawn: ${shown(changes)}`);
console.log(`  processor time of the main thread: ${shown(works)}; of it style and layout: ${shown(renderings)}`);
