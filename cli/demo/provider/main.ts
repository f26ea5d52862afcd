// Runs the model in a separate process, for measurements. Prints its addresses and the content of a credentials file as
// one line of JSON; when it is stopped, prints the numbers of requests and returned rows.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeQueries } from './made-queries.ts';
import { MadeSearches } from './made-searches.ts';
import { ProviderModel } from './provider.ts';
import { startProvider } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    /** Latency of each answer, in milliseconds. */
    latency: { type: 'string', default: '50' },
    properties: { type: 'string', default: '1' },
    /** Queries of each property. */
    queries: { type: 'string', default: '1000' },
    /** The first day with searches; by default the oldest that is kept. */
    since: { type: 'string' },
    seed: { type: 'string', default: '1' },
    /** Quota of requests per minute, over all properties. */
    'per-minute': { type: 'string', default: '1200' },
    /** A log file, written when the process is stopped: a line of JSON per data request. */
    log: { type: 'string' },
  },
});

const model = new ProviderModel();
model.quotas.options.perMinute = Number(values['per-minute']);
const refreshToken = '1//refresh-token-of-the-model';
// A measurement that simulates a day says what time it is.
process.on('message', (now: number) => {
  model.now = () => now;
});
const account = model.accounts.add({ refreshToken, sites: new Map() });
const { since } = values;
const properties = Array.from({ length: Number(values.properties) }, (_, number) => {
  const domain = `shop-${number + 1}.example`;
  const seed = Number(values.seed) + number;
  const queries = makeQueries({ seed, count: Number(values.queries), origin: `https://${domain}/`, brand: 'acme' });
  const property = `sc-domain:${domain}`;
  model.addSite(property, new MadeSearches({ seed, queries, ...(since === undefined ? {} : { since }) }));
  account.sites.set(property, 'siteFullUser');
  return property;
});

const latency = Number(values.latency);
const { url, tokenUrl } = await startProvider(model, { port: Number(values.port), latency: () => latency });
const credentials = {
  type: 'authorized_user',
  client_id: 'model',
  client_secret: 'model',
  refresh_token: refreshToken,
};
process.stdout.write(`${JSON.stringify({ url, tokenUrl, credentials, properties })}\n`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    const asked = Map.groupBy(model.log, ({ kind, request }) => request?.dimensions.join('+') ?? kind);
    const sums = [...asked].map(([what, entries]) => {
      return [what, { requests: entries.length, rows: entries.reduce((sum, { rows }) => sum + rows, 0) }];
    });
    if (values.log !== undefined) {
      const lines = model.log.map(({ at, property, status, rows }) => JSON.stringify({ at, property, status, rows }));
      writeFileSync(values.log, `${lines.join('\n')}\n`);
    }
    process.stdout.write(`${JSON.stringify(Object.fromEntries(sums))}\n`);
    process.exit();
  });
}
