// Runs the BigQuery emulator in a process of its own and prints its address: it stands for a service elsewhere and must
// share neither DuckDB nor its threads with the server. Its geography and hash functions come with extensions that it
// would download; nothing here needs them, so their loading is left out.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('/bigquery-local/dist/storage/db.js')) return loaded;
    if (loaded.source === undefined || loaded.source === null) return loaded;
    const source = new TextDecoder()
      .decode(Buffer.from(loaded.source as Buffer))
      .replaceAll(/await loadExtension\(connection, .*\);/g, '')
      .replaceAll(/await connection\.run\(`\s*CREATE OR REPLACE MACRO bq_st_[^`]*`\);/g, '');
    return { ...loaded, source };
  },
});

const { createServer } = await import('bigquery-local');
const server = await createServer({ database: ':memory:' });
await server.listen(0);
process.stdout.write(`${server.url}\n`);
