-- As write_answer_rows.sql, with metadata of the file. {columns}, $target; $quality: JSON.
copy (select {columns} from answer_rows order by row_number)
to $target (format parquet, compression zstd, row_group_size 100000, kv_metadata {quality: $quality})
