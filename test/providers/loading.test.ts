// The provider packages are loaded only when a connection needs them.
import { createRequire } from 'node:module';
import t from 'tap';
import { connect, credentialsFile } from '../fakes/connected.ts';
import { fakeSearchConsole } from '../fakes/search-console.ts';
import { facts, makeWorld } from '../world.ts';

const PACKAGES = [
  'google-auth-library',
  '@googleapis/searchconsole',
  '@google-cloud/bigquery',
  '@redis/client',
  'prom-client',
  '@fastify/otel',
  '@opentelemetry/exporter-trace-otlp-http',
];

/** Those of Google's packages, and of those for metrics and traces, that this process has loaded. */
function loaded(): string[] {
  const files = Object.keys(createRequire(import.meta.url).cache);
  return PACKAGES.filter((name) => files.some((file) => file.includes(`/node_modules/${name}/`)));
}

t.test("Google's packages are loaded at their first use: not without connections", async (t) => {
  const world = await makeWorld(t, {
    page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 0]),
  });
  const path = '/pages?from=2026-03-01&to=2026-03-05';
  t.equal((await world.ask(path)).status, 200);
  t.strictSame(loaded(), [], 'lists of own facts need none, and a server without metrics and traces none of theirs');
  const { url: endpoint, tokenUrl: tokenEndpoint } = await fakeSearchConsole(t);
  await connect(world.catalog, { credentials: credentialsFile(t), endpoint, tokenEndpoint });
  t.equal((await world.ask(path)).status, 200);
  t.strictSame(loaded(), ['google-auth-library', '@googleapis/searchconsole'], 'and a connection only its own');
});
