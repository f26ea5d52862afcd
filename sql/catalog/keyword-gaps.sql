-- Days of keywords that are not known, because they were stored while the keyword was not tracked.

-- name: in_range
-- The unknown days of keywords that lie in a range. $project; $from, $to: days; $archived: 1 for those of archived keywords, too.
-- rows: keyword text, from text, to text
select g.keyword_id as keyword, g.first_day as "from", g.last_day as "to"
from keyword_gaps g join keywords k on k.project_id = g.project_id and k.id = g.keyword_id
where g.project_id = $project and g.first_day <= $to and g.last_day >= $from and k.archived <= $archived
order by g.keyword_id, g.first_day

-- name: of_keyword
-- The unknown days of a keyword. $project, $keyword.
-- rows: from text, to text
select first_day as "from", last_day as "to" from keyword_gaps
where project_id = $project and keyword_id = $keyword
order by first_day

-- name: all
-- The unknown days of all keywords of all projects.
-- rows: project text, keyword text, from text, to text
select project_id as project, keyword_id as keyword, first_day as "from", last_day as "to" from keyword_gaps
order by project_id, keyword_id, first_day

-- name: not_fetched
-- Tracked keywords that lack days of a range which the sync has fetched for others: these days of the others, and those that
-- it has fetched for the keyword, null for none. No keywords if the sync has fetched none. $project; $from, $to: days.
-- rows: keyword text, from text, to text, firstFetched text, lastFetched text
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

-- name: add
-- Adds unknown days of a keyword that exists. $project, $keyword; $from, $to: days.
insert into keyword_gaps (project_id, keyword_id, first_day, last_day)
select project_id, id, cast($from as text), cast($to as text) from keywords where project_id = $project and id = $keyword

-- name: begin_at
-- Forgets unknown days before a day. $project, $before.
update keyword_gaps set first_day = $before where project_id = $project and first_day < $before

-- name: end_before
-- Forgets unknown days that all lie before a day. $project, $before.
delete from keyword_gaps where project_id = $project and last_day < $before

-- name: forget
-- Forgets the unknown days of a keyword. $project, $keyword.
delete from keyword_gaps where project_id = $project and keyword_id = $keyword
