-- Measures of each day that several properties have rows of, in order. $files: Parquet files of site_daily; for each of
-- them $places: the number of its property, and $firsts, $lasts: the days to read; $device: a device or 'all'. day: days
-- after the first one of the property. As site_daily.sql otherwise.
select
  p.place::double as place,
  (f.date - p.first_day)::double as day,
  ($device <> 'all' and bool_or(f.device = 'unknown'))::double as "hasUnknownDevice",
  coalesce(sum(f.clicks) filter (where $device = 'all' or f.device = $device), 0)::double as clicks,
  coalesce(sum(f.impressions) filter (where $device = 'all' or f.device = $device), 0)::double as impressions,
  coalesce(sum(f.sum_position) filter (where $device = 'all' or f.device = $device), 0)::double as "sumPosition"
from read_parquet($files, filename = true) f
join (
  select
    unnest($files) as filename,
    unnest($places)::integer as place,
    unnest($firsts)::date as first_day,
    unnest($lasts)::date as last_day
) p on p.filename = f.filename and f.date between p.first_day and p.last_day
group by p.place, f.date - p.first_day
order by p.place, f.date - p.first_day
