-- Totals by name, as facts/country_totals.sql and others. {table}; {name}: its column; $projects and $files: the projects
-- and addresses of the files; $from, $to: days.
select
  {name} as name,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from {table}
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to)
group by {name}
