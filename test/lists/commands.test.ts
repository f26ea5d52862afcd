// Operators can set up connections and inspect lists by command, and no output shows credentials.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCredentials } from '../../server/providers/google/credentials.ts';
import { ordinate } from '../fakes/command-line.ts';
import { connectedWorld, credentialsFile, SECRETS } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { temporaryFolder } from '../world.ts';

t.test('connections and lists on the command line', async (t) => {
  const { dataFolder, google, catalog } = await connectedWorld(t);
  const run = (...parts: readonly string[]) => ordinate(dataFolder, ...parts);
  const credentials = credentialsFile(t);
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  google.queries = [{ key: 'shop', clicks: 1, impressions: 2, position: 1 }];

  const set = ['connections', 'set', '--project', 'Proj1', '--kind', 'search-console', '--credentials', credentials];
  const done = await run(...set, '--endpoint', google.url, '--token-endpoint', google.tokenUrl);
  t.match(done, { code: 0, out: /connected to search-console/ });
  const [wrong, unknown, listed, tested, warmed] = await Promise.all([
    run('connections', 'set', '--project', 'Proj1', '--kind', 'bigquery', '--dataset', 'no dataset; drop'),
    run('connections', 'set', '--project', 'Nope1', '--kind', 'search-console'),
    run('connections', 'list', '--json'),
    run('connections', 'test', '--project', 'Proj1'),
    run('lists', 'warm', '--project', 'Proj1', '--period', '3d', '--json'),
  ]);
  t.match(wrong, { code: 1, error: /needs --dataset PROJECT.DATASET/ });
  t.match(unknown, { code: 1, error: /There is no project 'Nope1'/ });
  t.match(JSON.parse(listed.out), [
    { project: 'Proj1', property: 'sc-domain:shop.example', kind: 'search-console', credentials, endpoint: google.url },
  ]);
  t.match(tested, { code: 0, out: /^Works: The reporting API can read sc-domain:shop.example/ });
  t.match(JSON.parse(warmed.out), [
    { kind: 'pages', from: '2026-03-08', to: '2026-03-10', source: 'gsc', rows: 1 },
    { kind: 'queries', rows: 1 },
  ]);

  google.failure = { how: FAILURES.forbidden, times: 3 };
  const [refused, cold, status] = await Promise.all([
    run('connections', 'test', '--project', 'Proj1'),
    run('lists', 'warm', '--project', 'Proj1', '--period', '4d'),
    run('lists', 'status', '--json'),
  ]);
  t.match(refused, { code: 1, out: /Does not work: .*sufficient permission.*\n {2}Give the identity/ });
  t.match(cold, { code: 1, error: /The pages could not be fetched: status 403.*sufficient permission/ });
  t.match(JSON.parse(status.out), {
    lists: 2,
    hits: 0,
    kept: [{ project: 'Proj1', source: 'gsc' }, { kind: /pages|queries/ }],
  });

  const removed = await run('connections', 'remove', '--project', 'Proj1', '--kind', 'search-console');
  t.match(removed, { code: 0, out: /no longer connected/ });
  t.match(await run('lists', 'status'), { code: 0, out: 'There are no stored lists yet.\n' });
  for (const secret of SECRETS) {
    for (const { out, error } of [done, listed, tested, refused, cold]) t.notOk((out + error).includes(secret), secret);
    t.notOk(
      JSON.stringify(await catalog.statements.all('connections_all', { workspace: null })).includes(secret),
      secret,
    );
  }
});

t.test('connections set --archive says which of all queries and pages are stored', async (t) => {
  const { dataFolder } = await connectedWorld(t);
  const set = ['connections', 'set', '--project', 'Proj1', '--credentials', credentialsFile(t), '--kind'];
  const archive = async () =>
    (JSON.parse((await ordinate(dataFolder, 'connections', 'list', '--json')).out) as { archive: string }[])[0]!
      .archive;
  for (const [given, kept] of [
    [['--archive', 'none'], 'none'],
    [['--archive', 'pages'], 'pages'],
    [['--archive', 'queries'], 'queries'],
    [['--archive', 'pages,queries'], 'queries,pages'],
    [[], 'queries,pages'],
  ] as const) {
    t.match(await ordinate(dataFolder, ...set, 'search-console', ...given), { code: 0 });
    t.equal(await archive(), kept);
  }
  const wrong = await ordinate(dataFolder, ...set, 'search-console', '--archive', 'sites');
  t.match(wrong, { code: 1, error: /It must be one of: queries,pages; queries; pages; none/ });
  const dataset = ['--dataset', 'my-project.searchconsole', '--archive', 'none'];
  t.match(await ordinate(dataFolder, ...set, 'bigquery', ...dataset), {
    code: 1,
    error: /--archive is for search-con/,
  });
});

t.test('connections set refuses a credentials file that cannot work, and says nothing of its content', async (t) => {
  const { dataFolder, catalog } = await connectedWorld(t);
  const folder = temporaryFolder(t);
  const before = await catalog.statements.all('connections_all', { workspace: null });
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const secret = 'a-secret-of-this-file';
  const account = { type: 'service_account', client_email: 'a@b.example' };
  mkdirSync(join(folder, 'folder'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const refused: Readonly<Record<string, RegExp>> = {
    [join(folder, 'absent.json')]: /cannot be read \(ENOENT\)/,
    [join(folder, 'folder')]: /is not a file/,
    [join(folder, 'pipe')]: /is not a file/,
    [write('text.json', secret)]: /is not a JSON document/,
    [write('cut.json', `{"type": "authorized_user", "refresh_token": "${secret}`)]: /is not a JSON document/,
    [write('list.json', '[]')]: /must be of the type/,
    [write('large.json', ' '.repeat(200_000))]: /has 200000 bytes/,
    [credentialsFile(t, { type: secret })]: /must be of the type service_account or authorized_user/,
    [credentialsFile(t, { refresh_token: '' })]: /has no refresh_token/,
    [credentialsFile(t, account)]: /has no private_key/,
    [credentialsFile(t, { ...account, private_key: secret })]: /has a private_key that is not a private key/,
  };
  for (const [path, why] of Object.entries(refused)) {
    const { message } = t.throws(() => readCredentials(path)) as Error;
    t.match(message, why);
    t.ok(message.startsWith(`the credentials file '${path}' `), 'the file is named');
    for (const text of [secret, ...SECRETS]) t.notOk(message.includes(text));
  }
  const set = ['connections', 'set', '--project', 'Proj1', '--kind', 'search-console', '--credentials'];
  await Promise.all(
    ['absent.json', 'cut.json'].map(async (name) => {
      const path = join(folder, name);
      const { code, out, error } = await ordinate(dataFolder, ...set, path);
      t.match({ code, out }, { code: 1, out: '' }, name);
      t.match(error, `The connection was not set: the credentials file '${path}' `);
      for (const text of [secret, ...SECRETS]) t.notOk(error.includes(text));
    }),
  );
  t.strictSame(
    await catalog.statements.all('connections_all', { workspace: null }),
    before,
    'the connection is as it was',
  );
});
