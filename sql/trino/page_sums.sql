-- As facts/page_sums.sql. $projects and $files: the projects and addresses of the files; $from, $to: days; $urls.
select
  cast("date" as varchar) as "date",
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from page_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and url in (select url from unnest($urls) as u(url))
group by "date"
order by "date"
