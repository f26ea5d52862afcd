// A preview of a group counts all of its keywords and names the first ones; a day without impressions is in no band.
import t from 'tap';
import { facts, keyword } from '../world.ts';
import { makeTeam } from './team.ts';

t.test('a preview names the first 1,000 keywords, and counts all', async (t) => {
  const ids = Array.from({ length: 1001 }, (_, at) => `K${1000 + at}`);
  const { send } = await makeTeam(t, { keywords: ids.map((id) => keyword(id, `boots ${id}`)) });
  const rule = { match: 'all', conditions: [{ field: 'query', op: 'starts_with', value: 'boots' }] };
  const { status, body } = await send('owner', 'POST', '/projects/Proj1/groups/preview', { rule });
  t.equal(status, 200);
  t.equal(body['total'], 1001);
  t.strictSame(
    body['keywords'].map(({ id }: { id: string }) => id),
    ids.slice(0, 1000),
  );
});

t.test('a stored day without impressions is in no band of the tracker', async (t) => {
  const { send } = await makeTeam(t, {
    keywords: [keyword('Keyw1', 'boots')],
    site_daily: facts('date device', ['2026-03-01', 'mobile', 9, 90, 90], ['2026-03-02', 'mobile', 9, 90, 90]),
    keyword_daily: facts(
      'date keyword_id device',
      ['2026-03-01', 'Keyw1', 'mobile', 1, 10, 10],
      ['2026-03-02', 'Keyw1', 'mobile', 0, 0, 0],
    ),
  });
  const { body } = await send('owner', 'GET', '/projects/Proj1/tracker?from=2026-03-01&to=2026-03-02');
  t.strictSame(body['distribution'], [
    [1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
  ]);
});
