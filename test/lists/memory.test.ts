// Cached parts of lists take no more memory than the cache counts.
import { join } from 'node:path';
import t from 'tap';
import { Blocks, type Rendering } from '../../server/lists/blocks.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { ONE_THREAD, sharedEngine, temporaryFolder } from '../world.ts';

t.test('cached parts of short lists take no more memory than is counted', async (t) => {
  const engine = await sharedEngine(readSettings(ONE_THREAD));
  const file = join(temporaryFolder(t), 'list.parquet');
  using session = await engine.session();
  await session.run(
    `copy (select 1 as rank, '/a' as text, 2 as clicks, 3 as impressions, 4.5::double as sum_position) to '${file}' (format parquet)`,
    {},
  );
  const blocks = new Blocks(engine, 1_000_000);
  const rendering: Rendering = { variant: '', render: ({ text }) => ({ text }), textsOf: () => ({}) };
  const [json] = await blocks.json({ name: 'lists/list.parquet', path: file }, 0, 1, rendering);
  t.equal(json!.toString(), '{"text":"/a"}');
  const { bytes } = blocks.state;
  // The last row is followed by a comma in the cache.
  t.ok(json!.buffer.byteLength <= bytes, `${json!.buffer.byteLength} bytes of memory, ${bytes} are counted`);
});
