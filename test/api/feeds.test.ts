// A feed URL answers exactly one question, with the rights and limits of its key, until it is revoked.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { createKey, revokeKey } from '../../server/catalog/keys.ts';
import { removeProject } from '../../server/load/remove.ts';
import { command } from '../command.ts';
import { facts, makeWorld, NOW, PROJECT, WORKSPACE } from '../world.ts';

const clock = { at: NOW };
const TABLES = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'gratis', plan: 'free' }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    { ...PROJECT, id: 'Free1', workspace_id: 'gratis' },
    { ...PROJECT, id: 'Gone1' },
  ],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900], ['2026-03-02', 'mobile', 4, 50, 100]),
};
const world = await makeWorld(t, TABLES, { now: () => clock.at, environment: { ORDINATE_FEEDS: 'on' } });
const { app, catalog, dataFolder } = world;
const PATH = '/projects/Proj1/site.csv?from=2026-03-01&to=2026-03-02';

async function makeKey(workspace = 'acme'): Promise<{ id: string; key: string }> {
  return createKey(catalog, { workspace, name: 'feeds', by: null, at: 0 });
}

const feeds = (...words: readonly string[]) => command({ ORDINATE_DATA: dataFolder }, 'feeds', ...words);

/** A feed of a new key, or of the given one. */
async function makeFeed(path = PATH, keyId?: string): Promise<{ id: string; keyId: string; address: string }> {
  const key = keyId ?? (await makeKey()).id;
  const { stdout, stderr } = await feeds('create', '--key', key, '--path', path, '--json');
  if (stdout === '') throw new Error(stderr);
  const { id, url } = JSON.parse(stdout) as { id: string; url: string };
  return { id, keyId: key, address: new URL(url).pathname };
}

/** Sends a request without any header, as spreadsheets do. */
async function read(url: string, remoteAddress = '198.51.100.1', headers: Record<string, string> = {}) {
  const { statusCode: status, headers: received, body } = await app.inject({ url, remoteAddress, headers });
  return { status, headers: received, body };
}

t.test('a feed answers its question, as the API does with the key', async (t) => {
  const { address } = await makeFeed();
  t.match(address, /^\/feeds\/[\w-]{40,}\.csv$/);
  const { status, headers, body } = await read(address);
  const asked = await app.inject({ url: `/api/v1${PATH}`, headers: { authorization: `Bearer ${world.key}` } });
  t.equal(status, 200);
  t.match(headers, {
    'content-type': /^text\/csv/,
    'cache-control': 'private, max-age=300',
    'x-ratelimit-limit': '120',
  });
  t.match(body, /^date,clicks,impressions,ctr,position\r\n2026-03-01,3,100/);
  t.equal(body, asked.body);
  t.equal((await read(address, undefined, { 'if-none-match': String(headers['etag']) })).status, 304);
  const head = await app.inject({ method: 'HEAD', url: address });
  t.match({ status: head.statusCode, body: head.body }, { status: 200, body: '' });
});

t.test('a feed answers any question of stored facts', async (t) => {
  const question = { range: { from: '2026-03-01', to: '2026-03-02' }, dimensions: ['device'], metrics: ['clicks'] };
  const { address } = await makeFeed(`/projects/Proj1/query.csv?q=${encodeURIComponent(JSON.stringify(question))}`);
  t.match(await read(address), { status: 200, body: 'device,clicks\r\nmobile,7\r\n' });
});

t.test('an error is never cached, though answers are', async (t) => {
  const { address } = await makeFeed('/projects/Gone1/site.csv');
  t.match(await read(address), { status: 200, headers: { 'cache-control': 'private, max-age=300' } });
  await removeProject({ settings: world.settings, catalog }, 'Gone1', () => {});
  t.match(await read(address), { status: 404, headers: { 'cache-control': 'no-store' } });
});

t.test('nothing can be added to the question', async (t) => {
  const { address } = await makeFeed();
  const plain = await read(address);
  for (const more of ['?from=2026-03-02', '?device=desktop&x=1', '?format=json', '?_=1']) {
    t.match(await read(address + more), { status: 200, body: plain.body }, more);
  }
});

t.test('what is no token of a feed is not found, and counted by address', async (t) => {
  const { address } = await makeFeed();
  const unknown = `/feeds/ord_feed_${'x'.repeat(32)}.csv`;
  for (const wrong of [
    unknown,
    '/feeds/.csv',
    `/feeds/${world.key}.csv`,
    address.replace('.csv', ''),
    address.replace('.csv', '.json'),
  ]) {
    t.match(await read(wrong), { status: 404, headers: { 'cache-control': 'no-store' } }, wrong);
  }
  t.equal((await read('/feeds')).status, 404);
  for (let at = 0; at < 30; at++) await read(unknown, '198.51.100.2');
  t.match(await read(unknown, '198.51.100.2'), { status: 429, headers: { 'retry-after': /\d/ } });
  t.equal((await read(address, '198.51.100.2')).status, 200, 'a right one is answered');
});

t.test('requests count against the limit of the key', async (t) => {
  const { id, key } = await makeKey();
  const [one, two] = [await makeFeed(PATH, id), await makeFeed('/projects.csv', id)];
  const first = await read(one.address);
  t.equal(first.headers['x-ratelimit-remaining'], '119');
  for (let at = 0; at < 118; at++) await read(two.address);
  const asked = await app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${key}` } });
  t.match(asked, { statusCode: 200, headers: { 'x-ratelimit-remaining': '0' } });
  t.match(await read(one.address), { status: 429, headers: { 'cache-control': 'no-store' } });
  clock.at += 60_000;
  t.equal((await read(one.address)).status, 200);
});

t.test('a feed ends when it or its key is revoked, or the workspace loses its plan', async (t) => {
  const { id, keyId, address } = await makeFeed();
  const second = await makeFeed(PATH, keyId);
  t.match(await feeds('revoke', id), { code: 0 });
  t.equal((await read(address)).status, 404);
  t.equal((await read(second.address)).status, 200);
  await revokeKey(catalog, { id: keyId, workspace: 'acme', by: null, at: 1 });
  t.equal((await read(second.address)).status, 404);
  const listed = JSON.parse((await feeds('list', '--workspace', 'acme', '--json')).stdout) as { id: string }[];
  t.match(
    listed.find((feed) => feed.id === second.id),
    { workspace: 'acme', keyId, path: PATH, revokedAt: '1970-01-01T00:00:00.000Z' },
  );
  const free = await makeFeed('/projects/Free1/site', (await makeKey('gratis')).id);
  t.match(await read(free.address), { status: 403, headers: { 'cache-control': 'no-store' } });
  t.match(await feeds('revoke', 'nobody'), { code: 1, stderr: "There is no feed with the id 'nobody'.\n" });
});

t.test('only questions that the key can ask become feeds', async (t) => {
  const { id } = await makeKey();
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['projects', /is not a path of the API/],
    ['/projects/Proj1/groups', /no endpoint that answers as CSV.*\/projects\/:id\/site\.csv/],
    ['/projects/Proj1/site.json', /no endpoint/],
    ['/projects/Proj1/site?format=json', /format must be csv/],
    ['/projects/Proj1/site?peroid=3m', /peroid is no parameter.*period/],
    ['/projects/Proj1/site?constructor=3m', /constructor is no parameter/],
    ['/projects/Proj1/site?period=3m&period=4m', /more than once/],
    ['/projects/Proj1/site?period=3x', /period must be/],
    ['/projects/Proj1/site?period=3m&from=2026-01-01', /exclude each other/],
    ['/projects/Other/site', /no project 'Other'/],
    ['https://elsewhere.example/projects', /is not a path/],
  ];
  for (const [path, message] of wrong) {
    t.match(await feeds('create', '--key', id, '--path', path), { code: 1, stdout: '', stderr: message }, path);
  }
  t.match(await feeds('create', '--key', 'none', '--path', PATH), { code: 1, stderr: /no active key/ });
});

t.test('the token is stored as a hash, and is in no log', async (t) => {
  const { id, address } = await makeFeed();
  const token = address.slice('/feeds/'.length, -'.csv'.length);
  await read(address);
  await read(`${address}x`);
  await read(address.replaceAll('_', '%5F'));
  const secret = token.slice(-32);
  t.notMatch(world.log.join(''), secret);
  t.match(world.log.join(''), /ord_feed_…/);
  const db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'), { readOnly: true });
  t.teardown(() => db.close());
  const row = db.prepare('select * from feeds where id = ?').get(id);
  t.match(row, { hash: /^[0-9a-f]{64}$/, path: PATH });
  for (const name of ['catalog.sqlite', 'catalog.sqlite-wal']) {
    t.notOk(readFileSync(join(dataFolder, name)).includes(secret), name);
  }
});

t.test('feeds are off unless they are turned on', async (t) => {
  const off = await makeWorld(t, TABLES);
  const { id } = await createKey(off.catalog, { workspace: 'acme', name: 'feeds', by: null, at: 0 });
  const made = await command(
    { ORDINATE_DATA: off.dataFolder },
    'feeds',
    'create',
    '--key',
    id,
    '--path',
    PATH,
    '--url',
    'https://o.example/',
  );
  t.match(made, {
    code: 0,
    stdout: /https:\/\/o\.example\/feeds\/ord_feed_\w{32}\.csv\nIt is answered by servers .* ORDINATE_FEEDS=on/,
  });
  const address = /\/feeds\/\S+/.exec(made.stdout)![0];
  t.equal((await off.app.inject({ url: address })).statusCode, 404);
});
