// A malformed or malicious snapshot is refused by file and line, without harm to the service.
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadSnapshot } from '../../server/load/load.ts';
import { command } from '../command.ts';
import { transcripts } from '../transcript.ts';
import { facts, makeLazyWorld, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { problemsOf } from './snapshots.ts';

transcripts('hostile');

const SITE = facts('date device', ['2026-03-01', 'desktop', 3, 100, 900], ['2026-03-02', 'desktop', 4, 100, 900]);

t.test('the name of the data folder may look like a pattern', async (t) => {
  const parent = temporaryFolder(t);
  // As a pattern, its name would match this one.
  mkdirSync(join(parent, 'd1'));
  const settings = { ORDINATE_DATA: join(parent, 'd[1]*') };
  const whole = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: SITE });
  const changed = writeSnapshot(t, { site_daily: [{ ...SITE[0], clicks: 5 }] });
  for (const folder of [whole, changed]) t.match(await command(settings, 'load', folder), { code: 0 });
  const out = join(temporaryFolder(t), 'out');
  t.match(await command(settings, 'export', '--workspace', 'acme', '--out', out, '--format', 'csv'), { code: 0 });
  const [file = ''] = globSync(`${out}/site_daily/**/*.csv`);
  t.equal(
    readFileSync(file, 'utf8'),
    'date,device,clicks,impressions,sum_position\n2026-03-01,desktop,5,100,900\n2026-03-02,desktop,4,100,900\n',
  );
});

t.test('a file that changes or goes while it is read', async (t) => {
  const world = await makeLazyWorld(t);
  const { settings, catalog } = world;
  const ways: ((file: string) => void)[] = [
    (file) => appendFileSync(file, readFileSync(file, 'utf8').replaceAll('desktop', 'mobile')),
    (file) => writeFileSync(file, readFileSync(file)),
    (file) => rmSync(file),
  ];
  for (const change of ways) {
    const folder = writeSnapshot(t, { site_daily: SITE });
    const report = (step: string): void => {
      if (step.startsWith('checking')) change(join(folder, 'site_daily.ndjson'));
    };
    t.match(await problemsOf(loadSnapshot({ settings, catalog }, { folder, report })), [
      { table: 'site_daily', message: /site_daily\.ndjson.*changed while it was being read/ },
    ]);
  }
  t.match((await world.ask('/site?from=2026-03-01&to=2026-03-10')).body.totals, { clicks: 0 });
});
