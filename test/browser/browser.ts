import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where Debian's package and others put Chromium; CHROMIUM names another place. */
const PLACES = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program of Chromium; undefined if it is not installed. */
export const CHROMIUM = PLACES.find((place) => place !== undefined && existsSync(place));

/** Screenshots to look at. `SCREENSHOTS` names another folder; this one is ignored by git. */
const SHOTS = resolve(process.env['SCREENSHOTS'] || join(import.meta.dirname, '../../screenshots'));

export async function launch(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('Chromium is not installed');
  // The sandbox needs rights that containers seldom give; only our own pages are loaded.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/** A page that notes whatever must not happen: errors, violations of the policy, requests to other hosts. */
export async function watchedPage(
  context: BrowserContext,
  origin: string,
): Promise<{ page: Page; problems: string[] }> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    // A refused request is logged by the browser itself; tests of refusals cause them on purpose.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isRefusal) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('response', (response) => {
    if (response.status() === 500) problems.push(`failure of the server: ${response.url()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`foreign request: ${url}`);
  });
  return { page, problems };
}

/** Waits until a screen shows what it was asked for. A chart is drawn a frame after the numbers are there. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  const waiting = page.locator('.skeleton, .is-stale, .chart-canvas:not(:has(canvas)):visible');
  await waiting.first().waitFor({ state: 'detached' });
}

export async function takeShot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}
