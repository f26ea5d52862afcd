import { type Connection, ConnectionRefused } from '../../catalog/connections.ts';
import type { MissingStep, ProviderFailure } from '../failures.ts';
import type { ConnectedProvider, Provider, ProviderContext } from '../provider.ts';
import { keyOf, nameOfKey, readApiKey } from './api-key.ts';
import { BING_ERRORS, BING_PACING } from './failures.ts';
import { sumOfWeeks } from './rows.ts';
import { type BingAccess, BingWebmaster } from './webmaster.ts';

const STEPS: Readonly<Record<string, string>> = {
  credentials:
    'Create an API key (Bing Webmaster Tools: Settings > API access > API Key), and connect again: on the Connect page of the dashboard, or by connections set with a file of the key.',
  user: 'Add the site in Bing Webmaster Tools and verify it, with the account that the key belongs to.',
  property: 'Remove the site that is not meant from the account of the key, or use a project of exactly one of them.',
};

/** More than its responses have. */
const MAX_ROWS = 100_000;

/** Bing Webmaster Tools. */
export const BING: Provider = {
  kind: 'bing',
  help: 'Bing Webmaster Tools',
  options: [
    {
      name: 'apiKeyFile',
      field: 'credentials',
      flags: '--api-key-file <file>',
      help: 'a file with the API key (bing)',
    },
    { name: 'endpoint', flags: '--endpoint <url>', help: "base address of the API, instead of Bing's (bing)" },
  ],
  advice: {
    'access-lost': 'Verify the site in Bing Webmaster Tools with the account of the key, or create a new key.',
    'load-quota': 'Nothing is wrong with the connection: wait ten minutes and test again.',
    'rate-limit': 'Nothing is wrong with the connection: wait ten minutes and test again.',
    'not-covered': 'Use a range that the provider has.',
    misconfigured: 'Correct what the reason says about the API key.',
    broken: 'Check that this machine can reach the address of the provider, and test again.',
  },
  errors: BING_ERRORS,
  pacing: BING_PACING,
  lists: {
    source: 'bing',
    help: 'weeks of Bing',
    types: ['bing'],
    maxRows: { pages: MAX_ROWS, queries: MAX_ROWS },
    isWarehouse: false,
  },
  wholeTables: ['site_daily_bing', 'page_weekly_bing', 'query_weekly_bing'],
  check: checkKey,
  checkCredentials: readApiKey,
  connect: (connection, context) =>
    connectBy({ key: () => keyOf(connection, context), endpoint: connection.endpoint }, context),
};

/** A client for a key that need not be stored. */
export function connectBy(access: BingAccess, context: ProviderContext): ConnectedProvider {
  const client = new BingWebmaster(access, context);
  return {
    // Requests of all its sites count.
    limitedBy: async () => nameOfKey(await access.key()),
    async test(property, _yesterday, run) {
      const site = await client.siteOf(property, run);
      const days = await client.days(site, run);
      return { found: `Bing can read ${site}${days.length === 0 ? ', which has no data yet' : ''}.` };
    },
    findMissingStep: async (_property, failure) => missingStep(failure),
    async fetchList({ kind, property, pair, range, maxRows }, take, run) {
      const site = await client.siteOf(property, run);
      const rows = sumOfWeeks(await client.weeksOf(site, kind, pair!.of, run), range);
      await take(rows.slice(0, maxRows + 1));
      // Bing does not say which weeks may still change.
      return { rows: Math.min(rows.length, maxRows), truncated: rows.length > maxRows, complete: false };
    },
    async fetchCrawl(property, url, run) {
      const site = await client.siteOf(property, run);
      if (url === null) return { page: null, days: await client.crawlDays(site, run) };
      return { page: await client.pageCrawl(site, url, run), days: [] };
    },
    async fetchWholeTable(table, property, run) {
      const site = await client.siteOf(property, run);
      if (table === 'site_daily_bing') return client.days(site, run);
      return client.weeks(site, table === 'page_weekly_bing' ? 'url' : 'query', run);
    },
  };
}

function checkKey({ credentials, grant }: Connection): void {
  if (credentials === null && grant === null)
    throw new ConnectionRefused('A bing connection needs --api-key-file FILE.');
}

function missingStep({ step }: ProviderFailure): MissingStep | undefined {
  const advice = step && STEPS[step];
  return advice === undefined || step === undefined ? undefined : { step, advice };
}
