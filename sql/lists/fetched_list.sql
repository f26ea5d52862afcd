-- The rows of a provider in the order of the API, best first, to be kept. $most: rows kept; $target: the file to write.
copy (
  select row_number() over (order by clicks desc, impressions desc, text) as rank, *
  from fetched_rows
  order by rank
  limit $most
) to $target (format parquet, compression zstd, row_group_size 10000)
