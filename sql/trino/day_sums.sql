-- As facts/keyword_sums.sql and facts/page_sums.sql. {name}: the column that $names are of. $projects and $files: the projects
-- and addresses of the files; $from, $to: days; $names.
select
  cast("date" as varchar) as "date",
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from {table}
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and {name} in (select name from unnest($names) as n(name))
group by "date"
order by "date"
