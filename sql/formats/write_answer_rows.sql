-- Writes the rows of an answer as a Parquet file. {columns}: each column with its exact type; $target: the file.
copy (select {columns} from answer_rows order by row_number)
to $target (format parquet, compression zstd, row_group_size 100000)
