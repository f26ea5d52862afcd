// Tests of what users install: `npm run test:package` takes the packed package and the steps of the Dockerfile, with `--whole` also
// a production checkout, whose steps are those of the Dockerfile.
import './installed.ts';
import './image.ts';

if (process.argv.includes('--whole')) await import('./checkout.ts');
