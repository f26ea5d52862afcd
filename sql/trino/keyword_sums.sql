-- As facts/keyword_sums.sql. $projects and $files: the projects and addresses of the files; $from, $to: days; $keywords:
-- ids.
select
  cast("date" as varchar) as "date",
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from keyword_all
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and keyword_id in (select id from unnest($keywords) as k(id))
group by "date"
order by "date"
