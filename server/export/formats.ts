/** How the files of an export are written. */
export type ExportFormat = 'parquet' | 'csv';

/** The options of DuckDB's `copy`. */
export const COPY_OPTIONS: Readonly<Record<ExportFormat, string>> = {
  parquet: 'format parquet, compression zstd, compression_level 1, row_group_size 61440',
  csv: 'format csv, header true',
};
