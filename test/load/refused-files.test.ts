// A load that is refused leaves no files and says why, whether or not it could have been written.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { localOnly } from '../stores.ts';
import { keyword, makeLazyWorld, PROJECT, WORKSPACE } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, FACT, loadFolder, ndjson, places, writeFiles } from './snapshots.ts';

const WORLD = { workspaces: [WORKSPACE], projects: [PROJECT], keywords: [keyword('Kw001', 'shoes')] };
const right = { 'site_daily.ndjson': ndjson([{ ...FACT, device: 'desktop' }]) };
const wrong = { ...right, 'keyword_daily.ndjson': ndjson([{ ...FACT, keyword_id: 'Nope1', device: 'desktop' }]) };

t.test('a load that is refused', localOnly, async (t) => {
  const world = await makeLazyWorld(t, WORLD);
  const before = await answersOf(world);
  const facts = join(world.dataFolder, 'facts');
  const files = () =>
    readdirSync(facts, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
  const loaded = files();
  t.strictSame(places(await problemsOf(loadFolder(world, writeFiles(t, wrong)))), ['keyword_daily.keyword_id']);
  t.strictSame(files(), loaded, 'what was written beside its checks is removed');

  const blocked = join(facts, 'site_daily', 'Proj1');
  rmSync(blocked, { recursive: true, force: true });
  mkdirSync(dirname(blocked), { recursive: true });
  writeFileSync(blocked, 'no folder');
  const refused = loadFolder(world, writeFiles(t, wrong));
  t.strictSame(places(await problemsOf(refused)), ['keyword_daily.keyword_id'], 'problems come before failures');
  await t.rejects(
    loadFolder(world, writeFiles(t, right)),
    { code: /^E(EXIST|NOTDIR)$/ },
    'a failure is told without problems',
  );
  rmSync(blocked);
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');
  await loadFolder(world, writeFiles(t, right));
});
