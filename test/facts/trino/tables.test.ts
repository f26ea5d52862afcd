// Trino has every fact table and rollup, with the same columns as the stored files.

import t from 'tap';
import { TRINO_TABLES, tableDefinitions, tableOfFile } from '../../../server/facts/trino/tables.ts';
import { FACTS } from '../../../server/load/fact-tables.ts';
import { ROLLUPS } from '../../../server/model/tables.ts';

t.test('the tables of Trino are the fact tables and rollups, with their columns', async (t) => {
  t.strictSame(Object.keys(TRINO_TABLES).sort(), [...FACTS.map(({ name }) => name), ...ROLLUPS].sort());
  for (const { name, columns } of FACTS) {
    const own = columns
      .filter((column) => column.name !== 'project_id')
      .map((column) => `${column.name} ${column.type.sql}`);
    t.strictSame([...TRINO_TABLES[name]].sort(), own.sort(), name);
  }
});

t.test('the table of a file is in its name', async (t) => {
  t.equal(tableOfFile('facts/site_daily/Proj1/all-1.parquet'), 'site_daily');
  for (const wrong of ['facts/nothing/Proj1/all-1.parquet', 'facts', 'facts/constructor/Proj1/x', '']) {
    t.throws(() => tableOfFile(wrong), /is not a file of a fact table/);
  }
});

t.test('names and locations are quoted', async (t) => {
  const [schema, table] = tableDefinitions("s3://bucket/it's", { catalog: 'hive', schema: 'a"b' });
  t.match(schema, `create schema if not exists "hive"."a""b" with (location = 's3://bucket/it''s/trino')`);
  t.match(table, '"hive"."a""b"."site_daily"');
  t.match(table, `partition_projection_location_template = 's3://bucket/it''s/facts/site_daily/\${project_id}'`);
});
