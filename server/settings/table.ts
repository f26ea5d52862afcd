import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { isNetwork, isOrigin, LOG_LEVELS, SIZE, setting, size, wholeNumber } from './values.ts';

/** All settings: the parser of the environment, `--help` and the README use this table. */
export const SETTINGS = {
  dataFolder: setting({
    name: 'ORDINATE_DATA',
    fallback: './data',
    help: 'Folder of everything the service owns: the catalog, the facts and the stored lists.',
    wanted: 'the path of a folder',
    read: (text) => resolve(text),
  }),
  host: setting({
    name: 'HOST',
    fallback: '127.0.0.1',
    help: 'Address to listen on; 0.0.0.0 for all of the machine.',
    wanted: 'a host name or an address',
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  }),
  port: setting({
    name: 'PORT',
    fallback: '3000',
    help: 'Port to listen on; 0 takes a free one.',
    wanted: 'a whole number from 0 to 65535',
    read: (text) => wholeNumber(text, 0, 65_535),
  }),
  logLevel: setting({
    name: 'ORDINATE_LOG_LEVEL',
    fallback: 'info',
    help: `How much the server logs: ${LOG_LEVELS.join(', ')}.`,
    wanted: `one of ${LOG_LEVELS.join(', ')}`,
    read: (text) => LOG_LEVELS.find((level) => level === text),
  }),
  memoryLimit: setting({
    name: 'ORDINATE_MEMORY_LIMIT',
    fallback: '768MB',
    help: 'Memory that DuckDB may take in each process; what does not fit goes to disk.',
    wanted: 'a size such as 512MB or 4GB',
    read: (text) => (SIZE.test(text) ? text.replace(' ', '') : undefined),
  }),
  threads: setting({
    name: 'ORDINATE_THREADS',
    fallback: String(availableParallelism()),
    shown: 'one for each processor',
    help: 'Threads that DuckDB uses in each process.',
    wanted: 'a whole number from 1 to 256',
    read: (text) => wholeNumber(text, 1, 256),
  }),
  trustedProxies: setting({
    name: 'ORDINATE_TRUSTED_PROXIES',
    fallback: '',
    shown: 'none',
    help: 'Addresses or networks of proxies whose X-Forwarded-For is trusted, separated by commas.',
    wanted: 'addresses or networks separated by commas, such as 10.0.0.1,192.168.0.0/16',
    read: (text) => {
      const list = text.split(',').map((entry) => entry.trim());
      if (text.trim() === '') return [];
      return list.every(isNetwork) ? list : undefined;
    },
  }),
  publicUrl: setting({
    name: 'ORDINATE_PUBLIC_URL',
    fallback: '',
    shown: 'none',
    help: 'Address of this server in browsers, which alerts link to and `ordinate login` prints.',
    wanted: 'an https address without a path, such as https://reports.example.com',
    read: (text) => (text === '' ? null : isOrigin(text) && text.startsWith('https:') ? text : undefined),
  }),
  corsOrigins: setting({
    name: 'ORDINATE_CORS_ORIGINS',
    fallback: '',
    shown: 'none',
    help: 'Origins whose web pages may read the API, separated by commas; * for any.',
    wanted: 'origins separated by commas, such as https://dashboard.example.com, or *',
    read: (text) => {
      if (text.trim() === '' || text.trim() === '*') return text.trim() === '' ? [] : ['*'];
      const list = text.split(',').map((entry) => entry.trim());
      return list.every(isOrigin) ? list : undefined;
    },
  }),
  feeds: setting({
    name: 'ORDINATE_FEEDS',
    fallback: 'off',
    help: 'Whether the server answers feeds, addresses that need no key: on or off.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  minFree: setting({
    name: 'ORDINATE_MIN_FREE',
    fallback: '256MB',
    help: 'Free disk space of the data folder below which /readyz answers 503 and no sync begins; 0MB asks for none.',
    wanted: 'a size such as 256MB or 2GB, or 0MB',
    read: (text) => (text === '0MB' ? 0 : size(text)),
  }),
  requestTimeLimit: setting({
    name: 'ORDINATE_REQUEST_SECONDS',
    fallback: '75',
    help: 'Seconds until an answer begins; a request that takes longer is aborted and answered with 503.',
    wanted: 'a whole number from 1 to 3600',
    read: (text) => wholeNumber(text, 1, 3600),
  }),
  answerCache: setting({
    name: 'ORDINATE_CACHE',
    fallback: '64MB',
    help: 'Memory for cached answers, valid until their project changes; 0MB turns the cache off.',
    wanted: 'a size such as 64MB, or 0MB',
    read: (text) => (text === '0MB' ? 0 : size(text)),
  }),
  listDiskBudget: setting({
    name: 'ORDINATE_LISTS_DISK',
    fallback: '2GB',
    help: 'Disk space for stored page and query lists; the least recently used go first.',
    wanted: 'a size such as 500MB or 10GB',
    read: size,
  }),
  listMax: setting({
    name: 'ORDINATE_LISTS_MAX',
    fallback: '5000',
    help: 'Maximum number of stored page and query lists; the least recently used go first.',
    wanted: 'a whole number from 1 to 100000',
    read: (text) => wholeNumber(text, 1, 100_000),
  }),
  listMemory: setting({
    name: 'ORDINATE_LISTS_MEMORY',
    fallback: '128MB',
    help: 'Memory for cached parts of lists in each process; the least recently used go first.',
    wanted: 'a size such as 64MB or 1GB',
    read: size,
  }),
  listLifetime: setting({
    name: 'ORDINATE_LISTS_LIFETIME',
    fallback: '3600',
    help: 'Seconds after which a list that touches provisional days is fetched again.',
    wanted: 'a whole number from 1 to 604800',
    read: (text) => wholeNumber(text, 1, 604_800),
  }),
  listWait: setting({
    name: 'ORDINATE_LISTS_WAIT_SECONDS',
    formerly: 'ORDINATE_LISTS_PATIENCE',
    fallback: '60',
    help: 'Seconds that a request waits for a list that is being fetched before it is answered with 503.',
    wanted: 'a whole number from 1 to 60',
    read: (text) => wholeNumber(text, 1, 60),
  }),
  providerTimeLimit: setting({
    name: 'ORDINATE_PROVIDER_SECONDS',
    fallback: '90',
    help: 'Seconds that one request to a provider may take.',
    wanted: 'a whole number from 1 to 600',
    read: (text) => wholeNumber(text, 1, 600),
  }),
  providerRequestsPerMinute: setting({
    name: 'ORDINATE_PROVIDER_REQUESTS_PER_MINUTE',
    fallback: '300',
    help: 'Maximum requests to providers in any 60 seconds, by all processes of the data folder.',
    wanted: 'a whole number from 1 to 100000',
    read: (text) => wholeNumber(text, 1, 100_000),
  }),
  providerRequestsPerSecond: setting({
    name: 'ORDINATE_PROVIDER_REQUESTS_PER_SECOND',
    fallback: '5',
    help: 'Maximum requests to a provider about one property in any second.',
    wanted: 'a whole number from 1 to 1000',
    read: (text) => wholeNumber(text, 1, 1000),
  }),
  fetches: setting({
    name: 'ORDINATE_FETCHES',
    fallback: '8',
    help: 'Lists that each process fetches from providers at a time.',
    wanted: 'a whole number from 1 to 100',
    read: (text) => wholeNumber(text, 1, 100),
  }),
  fetchesPerProperty: setting({
    name: 'ORDINATE_FETCHES_PER_PROPERTY',
    fallback: '2',
    help: 'Lists of one property that each process fetches at a time.',
    wanted: 'a whole number from 1 to 100',
    read: (text) => wholeNumber(text, 1, 100),
  }),
  jobs: setting({
    name: 'ORDINATE_JOBS',
    fallback: 'on',
    help: 'Whether serve starts the process of background jobs: on, or off where `ordinate work` runs them elsewhere.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  sync: setting({
    name: 'ORDINATE_SYNC',
    fallback: 'on',
    help: 'Whether background jobs sync connected projects: on, or off where `ordinate sync` runs elsewhere.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  syncHours: setting({
    name: 'ORDINATE_SYNC_HOURS',
    fallback: '6',
    help: 'Hours from one sync of a connected project to the next.',
    wanted: 'a whole number from 1 to 168',
    read: (text) => wholeNumber(text, 1, 168),
  }),
  countryDays: setting({
    name: 'ORDINATE_COUNTRY_DAYS',
    fallback: '486',
    help: 'Days by country that the sync keeps; whole months before them become monthly sums.',
    wanted: 'a whole number from 1 to 36500',
    read: (text) => wholeNumber(text, 1, 36_500),
  }),
  keepDays: setting({
    name: 'ORDINATE_KEEP_DAYS',
    fallback: '',
    shown: 'all',
    help: 'Days of facts that are kept, in whole months; older months are dropped once a day. Workspaces can have their own number.',
    wanted: 'a whole number from 1 to 36500, or nothing to keep all',
    read: (text) => (text === '' ? 0 : wholeNumber(text, 1, 36_500)),
  }),
  maximumBytesBilled: setting({
    name: 'ORDINATE_BIGQUERY_BYTES',
    fallback: '100GB',
    help: 'Maximum bytes that BigQuery may bill for one query; queries above this limit are rejected.',
    wanted: 'a size such as 10GB or 1TB',
    read: size,
  }),
};
