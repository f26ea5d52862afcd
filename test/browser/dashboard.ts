// The dashboard works in a real Chromium on every screen, and is safe from other origins and hostile texts.
// Tests of the dashboard in a real Chromium: `npm run test:browser` opens each screen once, with `--whole` in all its states and
// with all that people do there. Arguments name parts, which run whole.

import t from 'tap';
import { CHROMIUM } from './browser.ts';
import { isWhole, NAMED } from './extent.ts';

if (CHROMIUM === undefined) {
  console.log('Chromium is missing: the tests in the browser were not run. Install it (apt-get install chromium).');
  process.exit(0);
}
// All parts take ten to fifteen minutes on a quiet machine.
t.setTimeout(3_600_000);

const PARTS: Readonly<Record<string, () => Promise<unknown>>> = {
  screens: () => import('./screens.ts'),
  'sign-in': () => import('./sign-in.ts'),
  attacks: () => import('./attacks.ts'),
  charts: () => import('./charts.ts'),
  habits: () => import('./habits.ts'),
  layout: () => import('./layout.ts'),
  keyboard: () => import('./keyboard.ts'),
  'main-job': () => import('./main-job.ts'),
};
/** Each screen, who may see it, other origins, charts and keys. */
const SMOKE = ['screens', 'sign-in', 'attacks', 'charts', 'keyboard'];

const unknown = NAMED.find((name) => PARTS[name] === undefined);
if (unknown !== undefined) throw new Error(`There is no '${unknown}'; the parts are ${Object.keys(PARTS).join(', ')}.`);
const chosen = NAMED.length > 0 ? NAMED : isWhole ? Object.keys(PARTS) : SMOKE;
for (const name of chosen) await PARTS[name]!();
