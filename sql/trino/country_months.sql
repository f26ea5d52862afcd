-- As facts/country_months.sql. $projects and $files: the projects and addresses of the files; $from, $to: days; $country: a
-- country, or null for all.
select
  substr(cast("month" as varchar), 1, 7) as "month",
  country,
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from country_monthly
where project_id in ($projects) and "$path" in ($files)
  and "month" between date_trunc('month', date($from)) and date($to)
  and (cast($country as varchar) is null or country = cast($country as varchar))
order by "month", country
