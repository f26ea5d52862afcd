// The worker thread of `ordinate demo --live`: the model with the property of the demo shop, as a provider that takes its time.
import { parentPort, workerData } from 'node:worker_threads';
import { dayOf } from '../../../server/domain/dates.ts';
import { calendarUntil } from '../calendar.ts';
import { shop } from '../shop.ts';
import { demoQueries } from './demo-queries.ts';
import { MadeSearches } from './made-searches.ts';
import { ProviderModel } from './provider.ts';
import { startProvider } from './server.ts';

const { port, refreshToken } = workerData as { port: number; refreshToken: string };

const model = new ProviderModel();
// The queries and their volume must not depend on the day of the start: days that were read would be others.
const queries = demoQueries(shop, calendarUntil(dayOf(Date.UTC(2026, 0, 1))));
model.addSite(shop.property, new MadeSearches({ seed: 1, queries }));
model.accounts.add({ refreshToken, sites: new Map([[shop.property, 'siteFullUser']]) });
// Nobody asks what was asked: the demo may run for days.
const forget = setInterval(() => model.log.splice(0), 60_000);
forget.unref();
const latency = (): number => 80 + Math.random() * 120;
const { url, tokenUrl } = await startProvider(model, { port, latency });
parentPort?.postMessage({ url, tokenUrl });
