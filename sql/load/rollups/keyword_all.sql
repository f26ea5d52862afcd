-- Keywords by day over all devices. Sums of doubles are exact here, because the loader rejects larger ones, and faster
-- than sums of integers. $file: a file of keyword_daily; $target.
copy (
  select 'all' as device, keyword_id, date, sum(clicks::double)::bigint as clicks, sum(impressions::double)::bigint as impressions,
    sum(sum_position::double)::bigint as sum_position
  from read_parquet($file) group by keyword_id, date
  order by keyword_id, date
) to $target (format parquet, compression zstd, compression_level 1, row_group_size 61440)
