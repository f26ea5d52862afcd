// The engine of a query follows the setting, or with auto the amount of data.
import t from 'tap';
import { chooseEngine } from '../../server/facts/engine-choice.ts';

const filesOf = (count: number, bytes: number, projects = 1) =>
  Array.from({ length: count }, (_, at) => ({ file: `facts/site_daily/P${at % projects}/${at}`, bytes, sha256: '' }));

t.test('auto chooses by bytes, and by the number of projects', async (t) => {
  const auto = { engine: 'auto', trinoAbove: 1000 } as const;
  t.equal(chooseEngine(auto, []), 'duckdb');
  t.equal(chooseEngine(auto, filesOf(10, 100)), 'duckdb');
  t.equal(chooseEngine(auto, filesOf(10, 101)), 'trino');
  t.equal(chooseEngine(auto, filesOf(1999, 0.1, 1999)), 'duckdb');
  t.equal(chooseEngine(auto, filesOf(2000, 0.1, 2000)), 'trino');
  t.equal(chooseEngine(auto, filesOf(5000, 0.1, 2)), 'duckdb', 'many months of few projects');
});

t.test('other settings choose always the same', async (t) => {
  t.equal(chooseEngine({ engine: 'duckdb', trinoAbove: 1 }, filesOf(500, 100, 500)), 'duckdb');
  t.equal(chooseEngine({ engine: 'trino', trinoAbove: 1e12 }, filesOf(1, 1)), 'trino');
});
