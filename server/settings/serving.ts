import { resolve } from 'node:path';
import { isNetwork, isOrigin, isRedisUrl, isSafeOrigin, LOG_LEVELS, setting, size, wholeNumber } from './values.ts';

/** How the server listens and answers. */
export const SERVING = {
  host: setting({
    name: 'HOST',
    uses: ['address', 'server'],
    fallback: '127.0.0.1',
    help: 'Address to listen on; 0.0.0.0 for all of the machine.',
    wanted: 'a host name or an address',
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  }),
  port: setting({
    name: 'PORT',
    uses: ['address', 'server'],
    fallback: '3000',
    help: 'Port to listen on; 0 takes a free one.',
    wanted: 'a whole number from 0 to 65535',
    read: (text) => wholeNumber(text, 0, 65_535),
  }),
  metricsPort: setting({
    name: 'ORDINATE_METRICS_PORT',
    uses: ['jobs', 'server'],
    fallback: 'off',
    help: 'Port on which /metrics answers Prometheus, without a key; 0 takes a free one, off serves no metrics.',
    wanted: 'a whole number from 0 to 65535, or off',
    read: (text) => (text === 'off' ? ('off' as const) : wholeNumber(text, 0, 65_535)),
  }),
  metricsHost: setting({
    name: 'ORDINATE_METRICS_HOST',
    uses: ['jobs', 'server'],
    fallback: '127.0.0.1',
    help: 'Address of the port of metrics; 0.0.0.0 for all of the machine.',
    wanted: 'a host name or an address',
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  }),
  metricsSocket: setting({
    name: 'ORDINATE_METRICS_SOCKET',
    uses: ['jobs', 'server'],
    fallback: '',
    shown: 'none',
    help: 'Path of a Unix socket on which /metrics answers too; with it, no port is needed.',
    wanted: 'a path of at most 100 characters',
    read: (text) => (text === '' ? '' : text.length <= 100 ? resolve(text) : undefined),
  }),
  tracesEndpoint: setting({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    uses: ['server'],
    fallback: '',
    shown: 'none',
    help: 'Address of an OpenTelemetry collector (OTLP over HTTP) that gets a trace of each request.',
    wanted: 'an address such as http://127.0.0.1:4318',
    read: (text) => (text === '' || (/^https?:/.test(text) && URL.canParse(text)) ? text : undefined),
  }),
  logLevel: setting({
    name: 'ORDINATE_LOG_LEVEL',
    uses: ['all'],
    fallback: 'info',
    help: `How much the server logs: ${LOG_LEVELS.join(', ')}.`,
    wanted: `one of ${LOG_LEVELS.join(', ')}`,
    read: (text) => LOG_LEVELS.find((level) => level === text),
  }),
  trustedProxies: setting({
    name: 'ORDINATE_TRUSTED_PROXIES',
    uses: ['server'],
    fallback: '',
    shown: 'none',
    help: 'Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, separated by commas.',
    wanted: 'addresses or networks separated by commas, such as 10.0.0.1,192.168.0.0/16',
    read: (text) => {
      const list = text.split(',').map((entry) => entry.trim());
      if (text.trim() === '') return [];
      return list.every(isNetwork) ? list : undefined;
    },
  }),
  publicUrl: setting({
    name: 'ORDINATE_PUBLIC_URL',
    uses: ['address', 'delivery', 'channels', 'server'],
    fallback: '',
    shown: 'none',
    help: 'Address of this server in browsers, which alerts link to and `ordinate login` prints.',
    wanted: 'an https address without a path, such as https://reports.example.com, or http with localhost',
    read: (text) => (text === '' ? null : isOrigin(text) && isSafeOrigin(text) ? text : undefined),
  }),
  corsOrigins: setting({
    name: 'ORDINATE_CORS_ORIGINS',
    uses: ['server'],
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
    uses: ['feeds', 'server'],
    fallback: 'off',
    help: 'Whether the server answers feeds, addresses that need no key: on or off.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  sql: setting({
    name: 'ORDINATE_SQL',
    uses: ['server'],
    fallback: 'off',
    help: 'Whether keys with the scope sql may run SELECT statements, each in a process of its own: on or off.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  shareRequestsPerMinute: setting({
    name: 'ORDINATE_SHARE_REQUESTS_PER_MINUTE',
    uses: ['server'],
    fallback: '60',
    help: 'Requests per minute that each shared link may send.',
    wanted: 'a whole number from 1 to 100000',
    read: (text) => wholeNumber(text, 1, 100_000),
  }),
  limits: setting({
    name: 'ORDINATE_LIMITS',
    uses: ['server'],
    fallback: '',
    shown: 'in memory',
    help: 'Redis or Valkey that counts requests, so that rate limits hold over several servers.',
    wanted: 'an address such as redis://127.0.0.1:6379 or rediss://USER:PASSWORD@HOST:PORT',
    isSecret: true,
    read: (text) => (text === '' || isRedisUrl(text) ? text : undefined),
  }),
  requestTimeLimit: setting({
    name: 'ORDINATE_REQUEST_SECONDS',
    uses: ['server'],
    fallback: '75',
    help: 'Seconds until an answer begins; a request that takes longer is aborted and answered with 503.',
    wanted: 'a whole number from 1 to 3600',
    read: (text) => wholeNumber(text, 1, 3600),
  }),
  answerCache: setting({
    name: 'ORDINATE_CACHE',
    uses: ['server'],
    fallback: '64MB',
    help: 'Memory for cached answers, valid until their project changes; 0MB turns the cache off.',
    wanted: 'a size such as 64MB, or 0MB',
    read: (text) => (text === '0MB' ? 0 : size(text)),
  }),
};
