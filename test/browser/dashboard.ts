// The dashboard works in a real Chromium on every screen, and is safe from other origins and hostile texts.
// Tests of the dashboard in a real Chromium: `npm run test:browser` runs them, `npm test` does not. Arguments name files.

import t from 'tap';
import { CHROMIUM } from './browser.ts';

if (CHROMIUM === undefined) {
  console.log('Chromium is missing: the tests in the browser were not run. Install it (apt-get install chromium).');
  process.exit(0);
}
// All files take ten to fifteen minutes on a quiet machine.
t.setTimeout(3_600_000);

const FILES: Readonly<Record<string, () => Promise<unknown>>> = {
  screens: () => import('./screens.ts'),
  'sign-in': () => import('./sign-in.ts'),
  attacks: () => import('./attacks.ts'),
  views: () => import('./views.ts'),
  work: () => import('./work.ts'),
  forms: () => import('./forms.ts'),
  clicks: () => import('./clicks.ts'),
  charts: () => import('./charts.ts'),
  numbers: () => import('./numbers.ts'),
  'screen-numbers': () => import('./screen-numbers.ts'),
  files: () => import('./files.ts'),
  surfaces: () => import('./surfaces.ts'),
  hours: () => import('./hours.ts'),
  'index-state': () => import('./index-state.ts'),
  habits: () => import('./habits.ts'),
  explain: () => import('./explain.ts'),
  explore: () => import('./explore.ts'),
  effects: () => import('./effects.ts'),
  layout: () => import('./layout.ts'),
  keyboard: () => import('./keyboard.ts'),
  reach: () => import('./reach.ts'),
  'main-job': () => import('./main-job.ts'),
  findings: () => import('./findings.ts'),
};
const named = process.argv.slice(2);
const unknown = named.find((name) => FILES[name] === undefined);
if (unknown !== undefined) throw new Error(`There is no '${unknown}'; the files are ${Object.keys(FILES).join(', ')}.`);
for (const name of named.length > 0 ? named : Object.keys(FILES)) await FILES[name]!();
