// The thread of `ordinate demo --live`: the model with the property of the demo shop, with a latency.
import { parentPort, workerData } from 'node:worker_threads';
import { calendarUntil } from '../calendar.ts';
import { shop } from '../shop.ts';
import { demoQueries } from './demo-queries.ts';
import { MadeSearches } from './made-searches.ts';
import { ProviderModel } from './provider.ts';
import { startProvider } from './server.ts';

/** URLs of the model. */
export interface LiveProvider {
  readonly url: string;
  readonly tokenUrl: string;
}

/** No log of requests: the demo may run for days. */
const LOG_KEPT = 60_000;

const { port, refreshToken } = workerData as { port: number; refreshToken: string };
const model = new ProviderModel();
// A fixed day: relative to today, past days would change tomorrow.
const queries = demoQueries(shop, calendarUntil('2026-01-01'));
model.addSite(shop.property, new MadeSearches({ seed: 1, queries }));
model.accounts.add({ refreshToken, sites: new Map([[shop.property, 'siteFullUser']]) });
setInterval(() => model.log.splice(0), LOG_KEPT);
const latency = (): number => 80 + Math.random() * 120;
const { url, tokenUrl }: LiveProvider = await startProvider(model, { port, latency });
parentPort?.postMessage({ url, tokenUrl } satisfies LiveProvider);
