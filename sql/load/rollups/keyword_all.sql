-- Keywords by day over all devices. $file: a file of keyword_daily; $target.
copy (
  select 'all' as device, keyword_id, date, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions,
    sum(sum_position)::bigint as sum_position
  from read_parquet($file) group by keyword_id, date
  order by keyword_id, date
) to $target (format parquet, compression zstd, compression_level 1, row_group_size 30720)
