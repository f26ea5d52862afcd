// Pages of keywords are loaded by whole days, and covered by projects list and verify.
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ordinate } from '../fakes/command-line.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld } from '../world.ts';
import { answersOf } from './snapshots.ts';

const KEYWORDS = [keyword('Kw001', 'red shoes'), keyword('Kw002', 'boots')];
const COLUMNS = 'keyword_id date url';
const PAGE = 'https://shop.example/';

interface Listed {
  readonly coverage: Readonly<Record<string, { firstDay: string; lastDay: string; rows: number }>>;
}

t.test(
  'it is loaded by whole days, is covered by projects list and verify, and makes no answer',
  localOnly,
  async (t) => {
    const world = await makeWorld(t, {
      keywords: KEYWORDS,
      site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 30, 60]),
      keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-01', 'mobile', 1, 10, 20]),
    });
    const before = await answersOf(world);
    await world.load({
      keyword_page_daily: facts(
        COLUMNS,
        ['Kw002', '2026-02-27', `${PAGE}b`, 0, 4, 40],
        ['Kw001', '2026-03-01', `${PAGE}a`, 1, 9, 9],
        ['Kw001', '2026-03-01', PAGE, 0, 3, 30],
        ['Kw001', '2026-03-02', PAGE, 1, 3, 30],
      ),
    });
    t.strictSame(await answersOf(world), before);
    const { dataFolder } = world;
    const coverage = async () => {
      const [project] = JSON.parse((await ordinate(dataFolder, 'projects', 'list', '--json')).out) as Listed[];
      return project!.coverage['keyword_page_daily'];
    };
    t.strictSame(await coverage(), { firstDay: '2026-02-27', lastDay: '2026-03-02', rows: 4 });
    t.match(await ordinate(dataFolder, 'verify'), { code: 0, out: /^All is in order/ });

    await world.load({ keyword_page_daily: facts(COLUMNS, ['Kw001', '2026-03-01', PAGE, 2, 5, 5]) });
    t.strictSame(
      await coverage(),
      { firstDay: '2026-02-27', lastDay: '2026-03-02', rows: 3 },
      'a whole day is replaced',
    );
    t.match(await ordinate(dataFolder, 'describe', 'keyword_page_daily'), {
      out: /^keyword_page_daily: .*\nKey: project_id, keyword_id, date, url\n/,
    });

    const file = globSync('facts/keyword_page_daily/Proj1/2026-02-*.parquet', { cwd: dataFolder });
    t.equal(file.length, 1, 'a file for each month');
    writeFileSync(join(dataFolder, file[0]!), 'damaged');
    t.match(await ordinate(dataFolder, 'verify'), { code: 1, out: /load keyword_page_daily of project Proj1 from/ });
  },
);
