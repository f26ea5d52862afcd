import { type FactsValue, type FactsValues, UnreadableHere } from '../reader.ts';
import { columnsOf, type TrinoTable } from './tables.ts';

/** Restricts Trino to the partitions of the projects and the files of the manifest. */
const filesOf = (table: string, more = ''): string =>
  `(select *${more} from ${table} where project_id in ($projects) and "$path" in ($files))`;

/** Lists as columns: `unnest($a) as x, unnest($b) as y, generate_subscripts($a, 1) as ordinal`. */
const LISTS = /\bselect ((?:(?:unnest\(\$\w+\)|generate_subscripts\(\$\w+, 1\)) as \w+(?:,\s*)?)+)/g;

/** SQL of DuckDB that fails in Trino. */
const OF_DUCKDB =
  /::|\bregexp_matches\(|\bread_parquet\b|\bcolumns\(|\bselect\s+unnest\b|\bhash\(|\bhex\(|\bany\(|\bstrftime\b|\bgroup by all\b/;

/**
 * Translates a statement of DuckDB for Trino. Most SQL is the same: `cast`, `date_diff`, `filter`, `split_part`.
 * Throws `UnreadableHere` for a statement that only DuckDB can run.
 */
export function toTrino(sql: string, table: TrinoTable, values: FactsValues): string {
  const text = sql
    .replaceAll(/^--.*\n/gm, '')
    .replaceAll('read_parquet($files, filename = true)', filesOf(table, ', "$path" as filename'))
    .replaceAll('read_parquet($files)', filesOf(table))
    .replaceAll(LISTS, (_, lists: string) => listsAsColumns(lists))
    .replaceAll(/\bcolumns\(\[\$(\w+)\]\)/g, (_, parameter: string) => columnNamed(table, values[parameter]))
    .replaceAll(/\bcolumns\('\^(\w+)'\)/g, (_, start: string) =>
      columnsOf(table)
        .filter((column) => column.startsWith(start))
        .join(', '),
    )
    // Converts the bytes of an id to a number.
    .replaceAll(/\bcast\('0x' \|\| hex\((\w+)\) as bigint\)/g, 'from_base(to_hex(to_utf8($1)), 16)')
    // Only DuckDB can compute the number of a page; the reader gets it from DuckDB afterwards.
    .replaceAll(/\bcast\(hash\((.+)\) >> 11 as double\)/g, '$1');
  const unknown = OF_DUCKDB.exec(text)?.[0];
  if (unknown !== undefined) throw new UnreadableHere(`Trino has no '${unknown}': ${sql}`);
  return text;
}

/** DuckDB combines several `unnest` by row; Trino needs one call with all lists. */
function listsAsColumns(lists: string): string {
  const columns = [...lists.matchAll(/(\w+)\((\$\w+)(?:, 1)?\) as (\w+)/g)].map(([, call, list, name]) => ({
    isOrdinal: call !== 'unnest',
    list: list!,
    name: name!,
  }));
  const ordinals = columns.filter(({ isOrdinal }) => isOrdinal);
  const unnested = columns.filter(({ isOrdinal }) => !isOrdinal);
  const names = [...unnested, ...ordinals].map(({ name }) => name).join(', ');
  const ordinality = ordinals.length > 0 ? ' with ordinality' : '';
  return `select * from unnest(${unnested.map(({ list }) => list).join(', ')})${ordinality} as u(${names})`;
}

function columnNamed(table: TrinoTable, name: FactsValue | undefined): string {
  const found = columnsOf(table).find((column) => column === name);
  if (found === undefined) throw new Error(`${table} has no column '${String(name)}'`);
  return found;
}
