import type { RowFormatName } from '../domain/formats.ts';
import { arrow } from './arrow.ts';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';
import { parquet } from './parquet.ts';
import type { RowFormat } from './rows.ts';

export const ROW_FORMATS: Readonly<Record<RowFormatName, RowFormat>> = { csv, ndjson, arrow, parquet };
