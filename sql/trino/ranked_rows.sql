-- The best rows of a range, as lists/rank_pages.sql and lists/rank_queries.sql. {table}; {text}: its column; $projects and
-- $files: the projects and addresses of the files; $from, $to: days; $country: a country, or null for all; $max: how many.
select {text} as text, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from {table}
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to)
  and (cast($country as varchar) is null or country = cast($country as varchar))
group by {text}
order by 2 desc, 3 desc, 1
limit $max
