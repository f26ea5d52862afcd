-- Keywords over a whole month, by device and over all of them ('all'). The date is the month's first stored day, so
-- that the question about days finds such a row where the range covers all of them. $file: a file of keyword_daily;
-- $target.
copy (
  select coalesce(device, 'all') as device, keyword_id, (select min(date) from read_parquet($file)) as date,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from read_parquet($file)
  group by grouping sets ((device, keyword_id), (keyword_id))
  order by device, keyword_id
) to $target (format parquet, compression zstd, row_group_size 30720)
