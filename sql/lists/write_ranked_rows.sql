-- Writes the best rows to a Parquet file, to be stored. $max: how many; $target: the file.
copy (select * from ranked_rows where rank <= $max::bigint order by rank)
to $target (format parquet, compression zstd, row_group_size 10000)
