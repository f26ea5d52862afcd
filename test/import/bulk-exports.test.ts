// A bulk export of the provider is imported with exact sums, once or repeatedly.
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { transcripts } from '../transcript.ts';
import { type Answer, makeLazyWorld, temporaryFolder } from '../world.ts';

transcripts('bulk-exports');

const REAL = join(import.meta.dirname, '../../../shared/realdata/bulk-export-url-impression.parquet');

t.test('the golden numbers of a real export', async (t) => {
  if (!existsSync(REAL)) {
    t.pass('not run', { skip: `there is no ${REAL}` });
    return;
  }
  const world = await makeLazyWorld(t, { projects: [] });
  // The engine that tests share reads temporary folders only.
  const file = join(temporaryFolder(t), 'export.parquet');
  copyFileSync(REAL, file);
  const words = [file, '--workspace', 'acme', '--property', 'https://advertools.readthedocs.io/'];
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'import', 'bulk-export', ...words), { code: 0 });
  const { id } = (await world.get('/projects')).body.projects[0];
  const ask = async (path: string): Promise<Answer['body']> => {
    const { body } = await world.get(`/projects/${id}/${path}`);
    return body;
  };
  const month = await ask('site');
  t.match(month.range, { from: '2025-03-26', to: '2025-04-22' });
  t.strictSame(month.totals, { clicks: 388, impressions: 58_749, ctr: 0.0066, position: 34.8 });
  t.match((await ask('breakdowns')).devices[0], {
    device: 'desktop',
    clicks: 359,
    impressions: 41_862,
    position: 32.1,
  });
  const whole = await ask('site?period=486d');
  t.strictSame([whole.daily.length, whole.totals.clicks, whole.totals.impressions], [349, 7598, 656_906]);
  const { paging, queries } = await ask('queries?period=486d&limit=1');
  t.match([paging.total, queries], [3807, [{ query: 'advertools', clicks: 1044, impressions: 12_441, position: 2.1 }]]);
  t.equal((await ask('pages?period=486d&limit=1')).paging.total, 89);
});
