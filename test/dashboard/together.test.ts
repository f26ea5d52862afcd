// A screen of the dashboard asks for all that it shows in one request, and gets each answer as soon as it is there.
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { REQUESTS_PER_MINUTE } from '../../server/domain/request-limits.ts';
import { makeTeam } from './team.ts';

interface Part {
  readonly index: number;
  readonly status: number;
  readonly retryAfter: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  readonly body: any;
}

const world = await makeTeam(t);

async function together(paths: readonly string[], more: Record<string, string> = {}, who: 'owner' | 'other' = 'owner') {
  const query = new URLSearchParams(paths.map((path): [string, string] => ['get', path]));
  const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: world.cookies.get(who)!, ...more };
  const response = await world.app.inject({ url: `/app/api/together?${query.toString()}`, headers });
  const isZipped = response.headers['content-encoding'] === 'gzip';
  const text = isZipped ? gunzipSync(response.rawPayload).toString() : response.body;
  return { response, text };
}

const partsOf = (text: string): Part[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Part)
    .sort((a, b) => a.index - b.index);

t.test('each path has the answer that it has alone', async (t) => {
  const paths = ['/projects/Proj1/summary', '/projects/Proj1/alerts?status=open', '/projects/Nope1/summary'];
  for (const encoding of ['identity', 'gzip', 'br, gzip']) {
    const { response, text } = await together(paths, { 'accept-encoding': encoding });
    t.equal(response.statusCode, 200);
    t.match(response.headers['content-type'], 'application/x-ndjson');
    for (const { index, status, body } of partsOf(text)) {
      const alone = await world.send('owner', 'GET', paths[index]!);
      t.equal(status, alone.status, paths[index]!);
      t.strictSame(body, alone.body);
    }
  }
  t.equal(partsOf((await together(paths)).text)[2]!.status, 404);
});

t.test('rights are those of the session, and each path counts against its limit', async (t) => {
  const [own, foreign] = partsOf((await together(['/projects', '/projects/Proj1/summary'], {}, 'other')).text);
  t.strictSame(
    own!.body.projects.map(({ id }: { id: string }) => id),
    ['Other'],
  );
  t.equal(foreign!.status, 404);
  const before = await world.send('owner', 'GET', '/projects');
  await together(['/projects', '/projects']);
  const after = await world.send('owner', 'GET', '/projects');
  const left = (answer: typeof before): number => Number(answer.headers['x-ratelimit-remaining']);
  t.equal(left(before) - left(after), 4);
  t.ok(left(before) > REQUESTS_PER_MINUTE, 'a session has a limit of its own');
  const stranger = await world.app.inject({
    url: '/app/api/together?get=/projects',
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  t.equal(stranger.statusCode, 401);
});

t.test('a part without an answer in JSON leaves the others whole', async (t) => {
  const paths = [
    '/projects',
    '/projects/Proj1/site?format=csv',
    '/projects/Proj1/site',
    '/projects/Proj1/keywords.csv',
  ];
  for (const encoding of ['identity', 'gzip']) {
    const { response, text } = await together(paths, { 'accept-encoding': encoding });
    t.equal(response.statusCode, 200);
    const parts = partsOf(text);
    t.strictSame(
      parts.map(({ status }) => status),
      [200, 400, 200, 400],
    );
    t.match(parts[1], { body: { error: { code: 'invalid_request', message: /^get must be .* in JSON/ } } });
    t.strictSame(parts[2]!.body, (await world.send('owner', 'GET', paths[2]!)).body);
  }
});

t.test('ids with escapes are ids', async (t) => {
  const paths = ['/projects/%50roj1/summary', '/projects/Proj1/keywords/a%20%C3%A9', '/projects/a.b/summary'];
  const parts = partsOf((await together(paths)).text);
  t.strictSame(
    parts.map(({ status }) => status),
    [200, 404, 404],
  );
});

t.test('only paths of this API are answered', async (t) => {
  for (const path of [
    '',
    'projects',
    '//x',
    '/../session',
    '/projects/../../docs',
    '/projects/%2E./%2e%2e/docs',
    '/together?get=/projects',
    '/a\\b',
    '/a#b',
    '/x/.%09./%09../docs',
    '/x/.\t./.\t./docs',
    '/x/\t../../docs',
    '/x/.%0a./docs',
    '/x/%2e%2e%2fdocs',
    '/x/..%5cdocs',
    '/x/./docs',
    '/x//docs',
    '/x/',
    '/x/%',
    '/x/%ff',
    '/x/é',
    '/x?a=\\b',
    '/x?a=\tb',
    '/t%6fgether?get=/projects',
    '/./together?get=/projects',
    '/x/../together?get=/projects',
    '/x/%2e%2e/together?get=/projects',
    '/together/?get=/projects',
    '/t\together?get=/projects',
  ]) {
    const { response } = await together([path]);
    t.equal(response.statusCode, 400, path);
    t.match(response.json().error.message, /^get must be/);
  }
  t.equal((await together([])).response.statusCode, 400);
  t.equal((await together(Array.from({ length: 13 }, () => '/projects'))).response.statusCode, 400);
});
