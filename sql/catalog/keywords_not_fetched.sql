-- Tracked keywords that lack days of a range which the sync has fetched for others: these days of the others, and those that
-- it has fetched for the keyword, null for none. No keywords if the sync has fetched none. $project; $from, $to: days.
with span as (
  select case when min(first_day) <= $from then $from else min(first_day) end as first_day,
    case when max(last_day) >= $to then $to else max(last_day) end as last_day
  from sync_keywords where project_id = $project
)
select k.id as keyword, span.first_day as "from", span.last_day as "to",
  s.first_day as firstFetched, s.last_day as lastFetched
from span
join keywords k on k.project_id = $project and k.archived = 0
left join sync_keywords s on s.project_id = k.project_id and s.keyword_id = k.id and s.query = k.query
where span.first_day <= span.last_day
  and (s.keyword_id is null or s.first_day > span.first_day or s.last_day < span.last_day)
