-- As facts/site_daily_each.sql. $projects and $files: the projects and addresses of the files; for each file $places: the
-- number of its property, and $firsts, $lasts: the days to read; $device: a device or 'all'.
select
  cast(p.place as double) as place,
  cast(date_diff('day', date(p.first_day), f."date") as double) as "day",
  cast($device <> 'all' and bool_or(f.device = 'unknown') as double) as "hasUnknownDevice",
  cast(coalesce(sum(f.clicks) filter (where $device = 'all' or f.device = $device), 0) as double) as clicks,
  cast(coalesce(sum(f.impressions) filter (where $device = 'all' or f.device = $device), 0) as double) as impressions,
  cast(coalesce(sum(f.sum_position) filter (where $device = 'all' or f.device = $device), 0) as double) as "sumPosition"
from (
  select "$path" as path, "date", device, clicks, impressions, sum_position
  from site_daily
  where project_id in ($projects) and "$path" in ($files)
) f
join (
  select path, place, first_day, last_day
  from unnest($files, $places, $firsts, $lasts) as u(path, place, first_day, last_day)
) p
  on p.path = f.path and f."date" between date(p.first_day) and date(p.last_day)
group by 1, 2
order by 1, 2
