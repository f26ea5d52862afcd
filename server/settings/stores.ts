import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { isDatabaseUrl, isOrigin, isTrinoUrl, SIZE, setting, size, wholeNumber } from './values.ts';

/** Where data is, and what reads it. */
export const STORES = {
  dataFolder: setting({
    name: 'ORDINATE_DATA',
    fallback: './data',
    help: 'Folder of everything the service owns: the catalog, the facts and the stored lists.',
    wanted: 'the path of a folder',
    read: (text) => resolve(text),
  }),
  catalogUrl: setting({
    name: 'ORDINATE_CATALOG',
    fallback: '',
    shown: 'SQLite in the data folder',
    help: 'Address of a PostgreSQL database that has the catalog, for several machines.',
    wanted: 'an address such as postgres://user@host:5432/database',
    isSecret: true,
    read: (text) => (text === '' || isDatabaseUrl(text) ? text : undefined),
  }),
  storage: setting({
    name: 'ORDINATE_STORAGE',
    fallback: '',
    shown: 'the data folder',
    help: 'Object store of facts and lists, with the S3 protocol; its credentials are found as by other programs for S3 (AWS_ACCESS_KEY_ID, profiles, roles).',
    wanted: 'an address such as s3://bucket or s3://bucket/prefix',
    read: (text) =>
      text === '' || /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/.test(text) ? text : undefined,
  }),
  storageEndpoint: setting({
    name: 'ORDINATE_STORAGE_ENDPOINT',
    fallback: '',
    shown: 'that of AWS',
    help: 'Address of the object store.',
    wanted: 'an address such as https://s3.example.com or http://127.0.0.1:9000',
    read: (text) => (text === '' || isOrigin(text.replace(/\/$/, '')) ? text : undefined),
  }),
  storageRegion: setting({
    name: 'ORDINATE_STORAGE_REGION',
    fallback: '',
    shown: 'AWS_REGION, or us-east-1',
    help: 'Region of the object store.',
    wanted: 'a region such as eu-central-1',
    read: (text) => (/^[\w-]*$/.test(text) ? text : undefined),
  }),
  storagePathStyle: setting({
    name: 'ORDINATE_STORAGE_PATH_STYLE',
    fallback: '',
    shown: 'on with ORDINATE_STORAGE_ENDPOINT',
    help: 'Whether the bucket is in the path of addresses and not in the name of the host: on or off.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false, '': 'as-usual' as const })[text],
  }),
  storageCache: setting({
    name: 'ORDINATE_STORAGE_CACHE',
    fallback: '20GB',
    help: 'Disk space of the data folder for files of the object store; the least recently used go first.',
    wanted: 'a size such as 500MB or 20GB',
    read: size,
  }),
  engine: setting({
    name: 'ORDINATE_ENGINE',
    fallback: 'duckdb',
    help: 'What reads facts: duckdb in this process, trino, or auto to choose by what a question reads; the latter two need ORDINATE_STORAGE.',
    wanted: 'duckdb, trino or auto',
    read: (text) => (['duckdb', 'trino', 'auto'] as const).find((name) => name === text),
  }),
  trino: setting({
    name: 'ORDINATE_TRINO',
    fallback: '',
    shown: 'none',
    help: 'Trino for ORDINATE_ENGINE, with the catalog and schema of `ordinate trino ddl`.',
    wanted: 'an address such as http://USER@HOST:8080/hive/ordinate, or with https://USER:PASSWORD@',
    isSecret: true,
    read: (text) => (text === '' || isTrinoUrl(text) ? text : undefined),
  }),
  trinoAbove: setting({
    name: 'ORDINATE_TRINO_ABOVE',
    fallback: '1GB',
    help: 'With ORDINATE_ENGINE=auto, Trino answers what reads files of more bytes than this.',
    wanted: 'a size such as 100MB or 1GB',
    read: size,
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
  minFree: setting({
    name: 'ORDINATE_MIN_FREE',
    fallback: '256MB',
    help: 'Free disk space of the data folder below which /readyz answers 503 and no sync begins; 0MB asks for none.',
    wanted: 'a size such as 256MB or 2GB, or 0MB',
    read: (text) => (text === '0MB' ? 0 : size(text)),
  }),
};
