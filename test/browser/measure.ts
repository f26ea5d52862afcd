// Measures the dashboard in Chromium: `node test/browser/measure.ts ADDRESS` with the sign-in link that `npm start` prints.
import { loadavg } from 'node:os';
import { launch } from './browser.ts';
import { shown, traced, type Work } from './trace.ts';

const RUNS = 10;
/** A screen is there when its chart is drawn and nothing is awaited. */
const READY = `document.querySelector('.performance canvas') !== null && document.querySelector('.skeleton, .is-stale') === null`;
const WATCH = `new MutationObserver(() => { if (${READY}) { window.readyAt ??= performance.now(); } })
  .observe(document, { childList: true, subtree: true, attributes: true })`;
/** Half a minute's answers would count against the limit of requests. */
const PAUSE = 2500;

const link = process.argv[2];
if (link === undefined) throw new Error('Name the sign-in link that npm start prints.');
const { origin } = new URL(link);
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await page.goto(link);
await page.locator('.project-name a').first().waitFor();
const project = (await page.locator('.project-name a').first().getAttribute('href'))!;
await page.addInitScript(WATCH);

const first: { took: number; work: Work }[] = [];
for (let run = 0; run < RUNS; run++) {
  await page.waitForTimeout(PAUSE);
  const { work, result } = await traced(browser, page, async () => {
    await page.goto(`${origin}${project}`);
    await page.waitForFunction(() => 'readyAt' in globalThis);
    return (await page.evaluate(
      `window.readyAt - performance.getEntriesByType('navigation')[0].responseStart`,
    )) as number;
  });
  first.push({ took: result, work });
}

const changes: { took: number; work: Work }[] = [];
for (const period of ['3m', '7d', '6m', '28d', '12m', '3m', '16m', '7d', '6m', '28d']) {
  await page.waitForTimeout(PAUSE);
  const { work, result } = await traced(
    browser,
    page,
    async () =>
      (await page.evaluate(`new Promise((done) => {
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
  })`)) as number,
  );
  changes.push({ took: result, work });
}
await browser.close();

const load = loadavg().map((value) => value.toFixed(1));
console.log(`Medians of ${RUNS} (least to most); load of the machine ${load.join(', ')}`);
for (const [name, runs] of Object.entries({
  'First screen complete after its first byte': first,
  'Change of the range until it is drawn': changes,
})) {
  console.log(`${name}: ${shown(runs.map(({ took }) => took))}`);
  console.log(`  processor time of the main thread: ${shown(runs.map(({ work }) => work.total))}`);
  console.log(`  of it style, layout and paint: ${shown(runs.map(({ work }) => work.rendering))}`);
  console.log(`  its longest task: ${shown(runs.map(({ work }) => work.longest))}`);
}
