import type { Command } from 'commander';
import { readSettings } from '../../server/settings/settings.ts';
import { print } from '../cli.ts';
import { examples } from '../help.ts';

const NOTE = `-- Tables of Trino over the facts of Ordinate. Run it once, and again after an upgrade that adds a table.
-- The catalog is one of the Hive connector, with the credentials of the object store:
--   connector.name=hive
--   fs.native-s3.enabled=true
--   hive.table-statistics-enabled=false
-- and a metastore. These statements were run with hive.metastore=file. A Hive metastore (thrift) and AWS Glue (glue) keep
-- the partition projection as properties of the tables, so that they need no partitions either.
`;

export function addTrino(program: Command): void {
  const command = program.command('trino').description('what a Trino cluster needs to read facts');
  command
    .command('ddl')
    .description('print the statements that define the tables in Trino, for ORDINATE_STORAGE and ORDINATE_TRINO')
    .addHelpText('after', examples('trino ddl', 'trino ddl > tables.sql'))
    .action(async () => {
      const { storage, trino } = readSettings(process.env);
      if (storage === '')
        throw new Error('ORDINATE_STORAGE must name the object store of the facts, which Trino reads.');
      const { trinoDefinitions } = await import('../../server/facts/open-facts.ts');
      const statements = await trinoDefinitions(storage, trino);
      print(`${NOTE}\n${statements.map((statement) => `${statement.trimEnd()};\n`).join('\n')}`.trimEnd());
    });
}
