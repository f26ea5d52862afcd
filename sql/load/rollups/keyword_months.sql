-- Keywords by month, by device and over all of them ('all'); the date is the month's first day. $daily: new files of
-- keyword_daily, if $hasDaily; $old: the sums before, if $hasOld, of which those of $months (first days) are left out;
-- $target.
copy (
  select coalesce(device, 'all') as device, keyword_id, month as date, sum(clicks::double)::bigint as clicks,
    sum(impressions::double)::bigint as impressions, sum(sum_position::double)::bigint as sum_position
  from (select *, date_trunc('month', date)::date as month from read_parquet($daily) where $hasDaily)
  group by grouping sets ((month, device, keyword_id), (month, keyword_id))
  union all
  select device, keyword_id, date, clicks, impressions, sum_position
  from read_parquet($old) where $hasOld and not list_contains($months::date[], date)
  order by device, date, keyword_id
) to $target (format parquet, compression zstd, row_group_size 8192)
