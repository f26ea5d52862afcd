// Operators can create and change projects by command, and these survive the loss of the catalog.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { ordinate } from '../fakes/command-line.ts';
import { SECRETS } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { temporaryFolder } from '../world.ts';
import { scene } from './scene.ts';

const query = (key: string, clicks: number, impressions = 10) => ({ key, clicks, impressions, position: 1 });

t.test('properties: what credentials can read, also before there is any data', async (t) => {
  const { connection, google, json } = await scene(t);
  const readable = [
    { property: 'https://blog.example/', permission: 'siteRestrictedUser' },
    { property: 'sc-domain:acme.example', permission: 'siteOwner' },
  ];
  t.strictSame(await json('properties', ...connection, '--archive', 'none'), readable);
  const folder = join(temporaryFolder(t), 'new');
  const shown = await ordinate(folder, 'properties', ...connection);
  t.match(shown, {
    code: 0,
    error: /^Created the data folder .+\n$/,
    out: /PROPERTY +PERMISSION\n.*acme\.example +siteOwner\nNot readable, .*else/s,
  });
  google.sites = [];
  t.match(await ordinate(folder, 'properties', ...connection), { code: 0, out: /can read no property yet/ });
  google.failure = { how: FAILURES.disabled, times: 1 };
  const disabled = await ordinate(folder, 'properties', ...connection);
  t.match(disabled, { code: 1, out: '', error: /cannot be read: status 403.*\nEnable the Google Search Console API/ });
  const absent = await ordinate(folder, 'properties', '--credentials', join(folder, 'absent.json'));
  t.match(absent, { code: 1, out: '', error: /the credentials file '.*absent\.json' cannot be read \(ENOENT\)/ });
  for (const secret of SECRETS) t.notOk((shown.out + disabled.error).includes(secret), secret);
});

t.test('projects create: a project with its connection and the best queries, and no data yet', async (t) => {
  const { connection, credentials, google, json, run, get } = await scene(t);
  google.queries = [query('shoes', 5), query('acme boots', 9), query('how to lace', 5, 20), query('rare', 0)];
  const create = ['projects', 'create', '--workspace', 'acme', '--property', 'sc-domain:acme.example', ...connection];
  const brand = ['--brand-term', 'acme', '--brand-term', 'a, c', '--archive', 'none'];
  const { project } = await json(...create, ...brand, '--track-top', '3');
  t.match(project, { id: /^[A-Za-z0-9]{5}$/, property: 'sc-domain:acme.example', trackedKeywords: 3 });
  t.equal(google.requests.length, 1, 'one request for data: the best queries');
  t.match(google.requests[0], { type: 'web', aggregationType: 'byProperty', dimensions: ['query'] });

  const { projects } = (await get('/projects')).body;
  t.match(projects, [
    { id: 'Proj1' },
    { id: project.id, domain: 'acme.example', property: 'sc-domain:acme.example', syncStatus: 'pending' },
  ]);
  const [kept] = await json('connections', 'list', '--workspace', 'acme');
  t.match(kept, { project: project.id, kind: 'search-console', credentials, endpoint: google.url, archive: 'none' });
  const keywords = await json('keywords', 'list', '--project', project.id);
  t.match(
    keywords.map(({ query: text, intent, source }: Record<string, string>) => [text, intent, source]),
    [
      ['acme boots', 'unclassified', 'suggested'],
      ['how to lace', 'informational', 'suggested'],
      ['shoes', 'unclassified', 'suggested'],
    ],
  );
  const asked = await get(`/projects/${project.id}/keywords`);
  t.equal(asked.body.paging.total, 3, 'the server knows them at once');

  const again = await run(...create, '--json');
  t.match(again, { code: 0, error: new RegExp(`already had the property: ${project.id}`) });
  t.match(await run(...create.slice(0, -6), '--workspace', 'nobody', ...connection), {
    code: 1,
    error: /There is no workspace 'nobody'; create it with: ordinate workspaces create/,
  });
});

t.test('projects create: pasted forms mean the one property that fits; others name the nearest', async (t) => {
  const { connection, google, json, run } = await scene(t);
  const create = ['projects', 'create', '--workspace', 'acme', ...connection, '--property'];
  for (const [pasted, property] of [
    ['acme.example', 'sc-domain:acme.example'],
    ['HTTP://ACME.example', 'sc-domain:acme.example'],
    ['http://blog.example', 'https://blog.example/'],
    ['Blog.Example', 'https://blog.example/'],
  ] as const) {
    // What it says of other projects goes to standard error.
    const { code, out } = await run(...create, pasted, '--json');
    t.equal(code, 0, pasted);
    t.match(JSON.parse(out), { project: { property } });
  }
  const before = await json('projects', 'list');
  for (const [wrong, said] of [
    ['https://acme.example/', /cannot read https:\/\/acme\.example\/.*you meant sc-domain:acme\.example\?/],
    ['sc-domain:acmee.example', /Perhaps you meant sc-domain:acme\.example\?.*Settings > Users and permissions/],
    ['https://else.example/', /has the permission siteUnverifiedUser on https:\/\/else\.example\//],
  ] as const) {
    t.match(await run(...create, wrong), { code: 1, out: '', error: said }, wrong);
  }
  google.sites = [];
  t.match(await run(...create, 'acme.example'), { code: 1, error: /can read no property at all/ });
  t.strictSame(await json('projects', 'list'), before, 'nothing was made');
});

t.test('projects set replaces brand terms, country and name, and raises the revision', async (t) => {
  const { json, run, get, catalog } = await scene(t);
  const set = ['projects', 'set', '--project', 'Proj1'];
  const row = async () => (await findAnyProject(catalog, 'Proj1'))!;
  const revision = async () => (await row()).entitiesRevision;
  const first = await revision();
  await json(...set, '--brand-term', 'zero', '--brand-term', 'half');
  await json(...set, '--brand-term', 'one', 'two', '--brand-term', 'one');
  t.strictSame((await row()).brandTerms, ['one', 'two'], 'the list of before is gone');
  const second = await revision();
  t.ok(second > first);
  await json(...set, '--country', 'USA', '--name', 'The shop');
  t.equal((await row()).country, 'usa');
  t.match((await get('/projects')).body.projects, [{ id: 'Proj1', domain: 'The shop' }]);
  t.strictSame((await row()).brandTerms, ['one', 'two']);
  await json(...set, '--country', 'none', '--no-brand-terms');
  t.match(await row(), { country: null, brandTerms: [] });
  const last = await revision();
  await json(...set, '--country', 'none');
  t.equal(await revision(), last, 'what changes nothing raises nothing');
  t.match(await run(...set), { code: 1, error: /Nothing to change/ });
  t.match(await run(...set, '--country', 'united'), { code: 1, error: /code of three letters, or none/ });
  t.match(await run('projects', 'set', '--project', 'Nope1', '--name', 'x'), { code: 1, error: /no project 'Nope1'/ });
});

t.test('what commands have made survives the loss of the catalog', async (t) => {
  const { connection, google, json, run, dataFolder, catalog } = await scene(t);
  google.queries = [query('shoes', 5), query('boots', 4)];
  const create = ['projects', 'create', '--workspace', 'acme', '--property', 'acme.example', ...connection];
  const { project } = await json(...create, '--track-top', '2');
  await json('projects', 'set', '--project', project.id, '--brand-term', 'acme', '--country', 'deu');
  await json('keywords', 'add', '--project', project.id, '--query', 'sandals');
  await json('keywords', 'archive', '--project', project.id, '--query', 'boots');
  t.match(await run('verify'), { code: 0 });
  const list = () => json('keywords', 'list', '--project', project.id);
  const before = [await json('projects', 'list'), await list()];
  t.equal(before[1].length, 2);
  await catalog.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataFolder, `catalog.sqlite${suffix}`), { force: true });
  t.match(await run('rebuild'), { code: 0 });
  t.strictSame([await json('projects', 'list'), await list()], before);
});
