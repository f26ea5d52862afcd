// Runs a background job once in this process (its name is the argument), two hours later than it is.
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { copyCatalog } from '../../server/jobs/copy-catalog.ts';
import { sweepFacts } from '../../server/jobs/sweep-facts.ts';
import { readSettings } from '../../server/settings/settings.ts';

const job = [copyCatalog, sweepFacts].find(({ name }) => name === process.argv[2])!;
const settings = readSettings(process.env);
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
await using catalog = await openCatalog(settings);
const now = (): number => Date.now() + 7_200_000;
await job.run({ settings, catalog, log, now, report: () => {} }, AbortSignal.timeout(600_000));
