-- As facts/brand_totals_each.sql. $projects and $files: the projects and addresses of the files; for each file $places: the
-- number of its property, and $firsts, $lasts: the days to read.
select
  cast(p.place as double) as place,
  cast(sum(f.clicks) as double) as clicks,
  cast(sum(f.impressions) as double) as impressions,
  cast(sum(f.sum_position) as double) as "sumPosition"
from (
  select "$path" as path, "date", clicks, impressions, sum_position
  from brand_daily
  where project_id in ($projects) and "$path" in ($files)
) f
join (
  select path, place, first_day, last_day
  from unnest($files, $places, $firsts, $lasts) as u(path, place, first_day, last_day)
) p
  on p.path = f.path and f."date" between date(p.first_day) and date(p.last_day)
group by 1
