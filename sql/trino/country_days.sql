-- As facts/country_days.sql. $projects and $files: the projects and addresses of the files; $from, $to: days; $country.
select
  cast("date" as varchar) as "date",
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from country_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and country = $country
order by "date"
