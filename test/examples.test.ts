// Every example in the documentation equals the answer of the server.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { ROUTES } from '../server/api/api.ts';
import { createKey } from '../server/operations/keys.ts';
import { readTables } from './rows.ts';
import { makeWorld } from './world.ts';

// Sends the requests of the documentation's examples. `UPDATE_EXAMPLES=1 npm test test/examples.test.ts` updates the examples.
const FILE = join(import.meta.dirname, '../server/api/examples.json');

/** A file as the documentation shows it: its name is another one each time, its bytes are those of this DuckDB. */
function exampleFile(file: { href: string }): object {
  const href = file.href.replace(/-[0-9a-f-]{36}\.parquet$/, '-5e1f0000-0000-4000-8000-000000000003.parquet');
  return { ...file, href, bytes: 734, sha256: '9b2c7e41'.repeat(8) };
}

t.test('every example in the documentation equals the answer of the server', async (t) => {
  const world = await makeWorld(t, readTables('examples'));
  const free = (await createKey(world.catalog, { workspace: 'small', name: 'free', at: 0 })).key;
  const found: Record<string, Record<string, { request: string; answer: unknown }>> = {};
  for (const { path, operation, examples, sendsFiles } of ROUTES) {
    if (sendsFiles === true) continue;
    const requests: Readonly<Record<number, string>> = examples ?? {};
    t.ok(requests[200], `${path} has an example`);
    const ok = requests[200] ?? '';
    const all = {
      ...requests,
      401: ok,
      403: ok,
      ...(ok.startsWith('/projects/') ? { 404: requests[404] ?? ok.replace('Proj1', 'Nope1') } : {}),
    };
    const answers: Record<string, { request: string; answer: unknown }> = {};
    for (const [status, request] of Object.entries(all)) {
      const headers: Record<string, Record<string, string>> = { 401: {}, 403: { authorization: `Bearer ${free}` } };
      const { status: got, body } = await world.get(request, headers[status]);
      t.equal(got, Number(status), `${operation} ${request}`);
      // What depends on the time of the request, and what is long.
      if (body.source) body.source.fetchedAt = '2026-03-15T12:00:00.000Z';
      if (body.files !== undefined) body.files = body.files.slice(0, 2).map(exampleFile);
      answers[status] = { request: `/api/v1${request}`, answer: body };
    }
    found[operation] = answers;
  }
  if (process.env['UPDATE_EXAMPLES'] === '1') {
    writeFileSync(FILE, `${JSON.stringify(found, null, 2)}\n`);
    // The document of this process has the examples of before.
    return;
  }
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as object;
  t.strictSame(
    found,
    kept,
    'the examples are the answers: `UPDATE_EXAMPLES=1 npm test test/examples.test.ts` writes them',
  );

  const document = await world.app.inject('/openapi.json');
  interface Response {
    readonly content: { 'application/json': { examples: { example: { value: unknown } } } };
  }
  const { paths, components } = document.json<{
    paths: Record<string, { get?: { operationId: string; responses: Record<string, Response & { $ref?: string }> } }>;
    components: { responses: Record<string, Response> };
  }>();
  for (const { get } of Object.values(paths)) {
    // SQL is asked by POST.
    if (get === undefined) continue;
    for (const [status, { answer }] of Object.entries(found[get.operationId] ?? {})) {
      const { $ref, ...own } = get.responses[status]!;
      // Errors are shared, and so is the example of one operation.
      const response = $ref === undefined ? own : components.responses[$ref.split('/').at(-1)!]!;
      const shown = response.content['application/json'].examples.example.value;
      const answers = $ref === undefined ? [answer] : Object.values(found).map((all) => all[status]?.answer);
      t.ok(
        answers.some((one) => isDeepStrictEqual(one, shown)),
        `${get.operationId} ${status}`,
      );
    }
  }
});
