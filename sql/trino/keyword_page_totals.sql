-- As facts/keyword_page_totals.sql. $projects and $files: the projects and addresses of the files; $from, $to: days;
-- $keyword: its id; $limit.
select
  url as name,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from keyword_page_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and keyword_id = $keyword
group by url
order by 3 desc, 1
limit $limit
