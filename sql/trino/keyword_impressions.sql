-- As alerts/keyword_impressions.sql. $projects and $files: the projects and addresses of the files; $from, $to: days, $days:
-- how many they are; $keywords: ids.
select
  cast((k.place - 1) * ($days + 1) + date_diff('day', date($from), f."date") + 1 as double) as cell,
  cast(f.impressions as double) as impressions,
  cast(f.sum_position as double) as "sumPosition"
from (
  select keyword_id, "date", impressions, sum_position
  from keyword_all
  where project_id in ($projects) and "$path" in ($files) and "date" between date($from) and date($to)
) f
join (select keyword_id, place from unnest($keywords) with ordinality as u(keyword_id, place)) k
  on k.keyword_id = f.keyword_id
