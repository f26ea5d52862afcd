// The columns of flat rows follow from the schema of the objects in JSON.
import t from 'tap';
import { Type } from 'typebox';
import { columnsOf, day, instant, integer, nullable, object } from '../../server/presets/schemas.ts';

t.test('a property is a column of its type, those of nested objects have the names of the objects', async (t) => {
  const schema = object('Row', {
    at: nullable(instant),
    on: day,
    count: integer(),
    ratio: Type.Number(),
    isNew: Type.Boolean(),
    pages: Type.Optional(Type.Array(integer())),
    group: nullable(object('Group', { id: Type.String(), count: integer() })),
  });
  const columns = columnsOf(schema);
  t.strictSame(
    columns.map(([name, type]) => `${name} ${type}`),
    [
      'at instant',
      'on day',
      'count count',
      'ratio ratio',
      'isNew boolean',
      'pages ids',
      'group_id text',
      'group_count count',
    ],
  );
  const at = '2026-03-10T00:00:00.000Z';
  const row = { at, on: '2026-03-10', count: 1, ratio: 0.5, isNew: true, pages: [7], group: { id: 'a', count: 2 } };
  t.strictSame(
    columns.map(([, , read]) => read(row)),
    [at, '2026-03-10', 1, 0.5, true, ['7'], 'a', 2],
  );
  const empty = { at: null, on: '2026-03-10', count: 0, ratio: 0, isNew: false, group: null };
  t.strictSame(
    columns.map(([, , read]) => read(empty)),
    [null, '2026-03-10', 0, 0, false, [], null, null],
    'what is left out is empty, zeros and false are not',
  );
});
