// Lists of the reporting API have no gap, although the stored days of the project come from a bulk export.
// What the gap does to other answers: test/fixtures/api/bulk-export-gap.txt.
import { join } from 'node:path';
import t from 'tap';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { writeParquetRows } from '../parquet.ts';
import { PROJECT, temporaryFolder } from '../world.ts';

t.test('the events of images and their pages', async (t) => {
  const { ask, catalog, settings, google } = await connectedWorld(t);
  const folder = temporaryFolder(t);
  const property = String(PROJECT['property']);
  const row = {
    ...{ site_url: property, url: 'https://shop.example/a', query: 'boots', is_anonymized_query: false },
    ...{ country: 'usa', device: 'DESKTOP', is_video: true, impressions: 400, clicks: 20, sum_position: 800 },
  };
  const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'];
  const images = days.map((data_date) => ({ ...row, data_date, search_type: 'IMAGE' }));
  await writeParquetRows(join(folder, 'part.parquet'), [{ ...images[0], search_type: 'WEB' }, ...images]);
  await importBulkExport({ settings, catalog }, { paths: [folder], workspace: 'acme', property });
  google.pages = [{ key: '/a', clicks: 1, impressions: 2, position: 1 }];
  const eventsOf = async (list: string): Promise<string[]> => {
    const { body } = await ask(`/${list}?type=image&from=2026-02-27&to=2026-03-02&quality=1`);
    return (body.quality.events as { from: string }[]).map(({ from }) => from);
  };
  t.strictSame([await eventsOf('site'), await eventsOf('pages')], [['2026-02-28'], []]);
});
