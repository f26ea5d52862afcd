-- Measures of each day that several properties have rows of, in order. $files: Parquet files of site_daily; for each of
-- them $ordinals: the number of its property, and $firsts, $lasts: the days to read; $device: a device or 'all'. day: days
-- after the first one of the property. As site_daily.sql otherwise.
select
  cast(p.ordinal as double) as ordinal,
  cast(date_diff('day', p.first_day, f.date) as double) as day,
  cast($device <> 'all' and bool_or(f.device = 'unknown') as double) as "hasUnknownDevice",
  cast(coalesce(sum(f.clicks) filter (where $device = 'all' or f.device = $device), 0) as double) as clicks,
  cast(coalesce(sum(f.impressions) filter (where $device = 'all' or f.device = $device), 0) as double) as impressions,
  cast(coalesce(sum(f.sum_position) filter (where $device = 'all' or f.device = $device), 0) as double) as "sumPosition"
from read_parquet($files, filename = true) f
join (
  select filename, cast(ordinal as integer) as ordinal, cast(first_day as date) as first_day, cast(last_day as date) as last_day
  from (
    select unnest($files) as filename, unnest($ordinals) as ordinal, unnest($firsts) as first_day, unnest($lasts) as last_day
  ) each_file
) p on p.filename = f.filename and f.date between p.first_day and p.last_day
group by p.ordinal, date_diff('day', p.first_day, f.date)
order by 1, 2
