// The dashboard works in a real Chromium on every screen, and is safe from other origins and hostile texts.
// Tests of the dashboard in a real Chromium: `npm run test:browser` runs them, `npm test` does not.

import t from 'tap';
import { CHROMIUM } from './browser.ts';

if (CHROMIUM === undefined) {
  console.log('Chromium is missing: the tests in the browser were not run. Install it (apt-get install chromium).');
  process.exit(0);
}
t.setTimeout(900_000);

await import('./screens.ts');
await import('./sign-in.ts');
await import('./attacks.ts');
await import('./views.ts');
