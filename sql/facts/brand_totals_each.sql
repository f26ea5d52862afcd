-- Clicks and impressions of all segments of several properties; "isUnknown" marks one that has days whose split is
-- unknown. $files: Parquet files of brand_daily; for each of them
-- $ordinals: the number of its property, and $firsts, $lasts: the days to read.
select
  cast(p.ordinal as double) as ordinal,
  cast(bool_or(f.segment = 'unknown') as double) as "isUnknown",
  cast(sum(f.clicks) as double) as clicks,
  cast(sum(f.impressions) as double) as impressions,
  cast(sum(f.sum_position) as double) as "sumPosition"
from read_parquet($files, filename = true) f
join (
  select filename, cast(ordinal as integer) as ordinal, cast(first_day as date) as first_day, cast(last_day as date) as last_day
  from (
    select unnest($files) as filename, unnest($ordinals) as ordinal, unnest($firsts) as first_day, unnest($lasts) as last_day
  ) each_file
) p on p.filename = f.filename and f.date between p.first_day and p.last_day
group by p.ordinal
