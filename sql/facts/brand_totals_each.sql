-- Clicks and impressions of all segments of several properties. $files: Parquet files of brand_daily; for each of them
-- $places: the number of its property, and $firsts, $lasts: the days to read.
select
  p.place::double as place,
  sum(f.clicks)::double as clicks,
  sum(f.impressions)::double as impressions,
  sum(f.sum_position)::double as "sumPosition"
from read_parquet($files, filename = true) f
join (
  select
    unnest($files) as filename,
    unnest($places)::integer as place,
    unnest($firsts)::date as first_day,
    unnest($lasts)::date as last_day
) p on p.filename = f.filename and f.date between p.first_day and p.last_day
group by p.place
