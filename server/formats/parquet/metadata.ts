import type { Column } from '../rows.ts';
import type { Chunk } from './chunk.ts';
import { ThriftStruct } from './thrift.ts';

// The structs of parquet.thrift: https://github.com/apache/parquet-format. Numbers of fields are those given there.

/** Physical types. */
const BOOLEAN = 0;
const INT32 = 1;
const INT64 = 2;
const DOUBLE = 5;
const BYTE_ARRAY = 6;

const OPTIONAL = 1;
const REPEATED = 2;

const PLAIN = 0;
const RLE = 3;
const RLE_DICTIONARY = 8;

const ZSTD = 6;
const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;

const EMPTY = new ThriftStruct();

interface Type {
  readonly physical: number;
  /** For readers that know no logical types. */
  readonly converted?: number;
  readonly logical?: ThriftStruct;
}

const TEXT: Type = { physical: BYTE_ARRAY, converted: 0, logical: new ThriftStruct().struct(1, EMPTY) };
/** 64 bits with a sign. */
const COUNT: Type = {
  physical: INT64,
  converted: 18,
  logical: new ThriftStruct().struct(10, new ThriftStruct().i8(1, 64).boolean(2, true)),
};
/** Microseconds in UTC. */
const INSTANT: Type = {
  physical: INT64,
  converted: 10,
  logical: new ThriftStruct().struct(
    8,
    new ThriftStruct().boolean(1, true).struct(2, new ThriftStruct().struct(2, EMPTY)),
  ),
};
const LIST: Omit<Type, 'physical'> = { converted: 3, logical: new ThriftStruct().struct(3, EMPTY) };

const TYPES: Readonly<Record<Column['type'], Type>> = {
  text: TEXT,
  ids: TEXT,
  day: { physical: INT32, converted: 6, logical: new ThriftStruct().struct(6, EMPTY) },
  instant: INSTANT,
  count: COUNT,
  ratio: { physical: DOUBLE },
  share: { physical: DOUBLE },
  boolean: { physical: BOOLEAN },
};

/** The header before the content of a page. */
export function pageHeader(
  kind: 'dictionary' | 'data',
  { values, dictionary }: Pick<Chunk, 'values' | 'dictionary'>,
  size: number,
  compressed: number,
): Buffer {
  const header = new ThriftStruct()
    .i32(1, kind === 'data' ? DATA_PAGE : DICTIONARY_PAGE)
    .i32(2, size)
    .i32(3, compressed);
  if (kind === 'dictionary') {
    return header.struct(7, new ThriftStruct().i32(1, dictionary!.values).i32(2, PLAIN)).bytes();
  }
  const encoding = dictionary === undefined ? PLAIN : RLE_DICTIONARY;
  return header.struct(5, new ThriftStruct().i32(1, values).i32(2, encoding).i32(3, RLE).i32(4, RLE)).bytes();
}

/** A column of a group, with its position in the file. */
export interface PlacedChunk extends Pick<Chunk, 'values' | 'nulls' | 'bounds'> {
  /** Position of its dictionary; undefined without one. */
  readonly dictionaryAt: number | undefined;
  readonly dataAt: number;
  /** Bytes of its pages with their headers. */
  readonly size: number;
  readonly compressed: number;
}

export interface RowGroup {
  readonly rows: number;
  /** In the order of the columns. */
  readonly chunks: readonly PlacedChunk[];
}

/** The index at the end of a file. */
export function fileIndex(
  columns: readonly Column[],
  groups: readonly RowGroup[],
  metadata: Readonly<Record<string, string>>,
): Buffer {
  const root = new ThriftStruct().binary(4, 'schema').i32(5, columns.length);
  const keys = Object.entries(metadata).map(([key, value]) => new ThriftStruct().binary(1, key).binary(2, value));
  return (
    new ThriftStruct()
      .i32(1, 1)
      .structs(2, [root, ...columns.flatMap(schemaOf)])
      .i64(
        3,
        sumOf(groups, ({ rows }) => rows),
      )
      .structs(
        4,
        groups.map((group) => rowGroup(columns, group)),
      )
      .structs(5, keys.length === 0 ? undefined : keys)
      .binary(6, 'ordinate')
      // Column orders: bounds have the order of their types.
      .structs(
        7,
        columns.map(() => new ThriftStruct().struct(1, EMPTY)),
      )
      .bytes()
  );
}

/** The schema of a column; a list has three levels. */
function schemaOf({ name, type }: Column): ThriftStruct[] {
  if (type !== 'ids') return [leaf(name, TYPES[type])];
  return [
    new ThriftStruct().i32(3, OPTIONAL).binary(4, name).i32(5, 1).i32(6, LIST.converted).struct(10, LIST.logical),
    new ThriftStruct().i32(3, REPEATED).binary(4, 'list').i32(5, 1),
    leaf('element', TEXT),
  ];
}

function leaf(name: string, { physical, converted, logical }: Type): ThriftStruct {
  return new ThriftStruct().i32(1, physical).i32(3, OPTIONAL).binary(4, name).i32(6, converted).struct(10, logical);
}

function rowGroup(columns: readonly Column[], { rows, chunks }: RowGroup): ThriftStruct {
  return new ThriftStruct()
    .structs(
      1,
      chunks.map((chunk, index) => columnChunk(columns[index]!, chunk)),
    )
    .i64(
      2,
      sumOf(chunks, ({ size }) => size),
    )
    .i64(3, rows);
}

function columnChunk({ name, type }: Column, chunk: PlacedChunk): ThriftStruct {
  const { values, nulls, bounds, dictionaryAt, dataAt, size, compressed } = chunk;
  const encodings = [PLAIN, RLE, ...(dictionaryAt === undefined ? [] : [RLE_DICTIONARY])];
  const statistics = new ThriftStruct().i64(3, nulls).binary(5, bounds?.max).binary(6, bounds?.min);
  const metadata = new ThriftStruct()
    .i32(1, TYPES[type].physical)
    .i32s(2, encodings)
    .texts(3, type === 'ids' ? [name, 'list', 'element'] : [name])
    .i32(4, ZSTD)
    .i64(5, values)
    .i64(6, size)
    .i64(7, compressed)
    .i64(9, dataAt)
    .i64(11, dictionaryAt)
    .struct(12, statistics);
  return new ThriftStruct().i64(2, dictionaryAt ?? dataAt).struct(3, metadata);
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}
