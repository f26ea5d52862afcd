-- The state of pages in the search engine's index, by inspection.

-- part: page
-- A page as the search engine has told of it.
-- rows: url text, state text, lastCrawlTime text, inspectedAt integer, since integer
url, state, last_crawl_time as "lastCrawlTime", inspected_at as "inspectedAt", since

-- part: of_property
-- Whether inspections are those of the current property of $project.
(select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)

-- part: matches
-- Whether a page is one of those that were asked for.
(cast($verdict as text) is null or lower(state) like $verdict escape '\')
  and (cast($other as text) is null or lower(state) not like $other escape '\')
  and (cast($part as text) is null or lower(url) like $part escape '\')

-- name: pages
-- The pages of a project that the search engine has told of, by address, if they are of its property. $project.
-- rows: {>page}
select {>page}
from inspected_pages where project_id = $project and inspected_at is not null
  and {>of_property}
order by url

-- name: some_pages
-- Some of the pages of a project that the search engine has told of, if they are of its property. $project; $verdict, $other:
-- patterns of the state in lower case, or null, and of one that it is not; $part: of the address; $sort: a column, after -
-- for descending; $limit, $offset.
-- rows: {>page}
select {>page}
from inspected_pages
where project_id = $project and inspected_at is not null
  and {>of_property}
  and {>matches}
order by
  case $sort when 'since' then since when 'inspectedAt' then inspected_at end,
  case $sort when '-since' then since when '-inspectedAt' then inspected_at end desc,
  case $sort when 'lastCrawlTime' then coalesce(last_crawl_time, '') end,
  case $sort when '-lastCrawlTime' then coalesce(last_crawl_time, '') end desc,
  case $sort when '-url' then url end desc,
  url
limit $limit offset $offset

-- name: count_pages
-- How many of these pages there are, and the newest inspection of any page. $project, $verdict, $other, $part: as there.
-- rows: newest integer, pages integer
select max(inspected_at) as newest,
  count(case when {>matches} then 1 end) as pages
from inspected_pages
where project_id = $project and inspected_at is not null
  and {>of_property}

-- name: page
-- An inspected page, if it is of the project's property. $project, $url.
-- rows: {>page}, firstAt integer, changes integer, repeats integer, triedAt integer, failures integer
select {>page}, first_at as "firstAt", changes,
  repeats, tried_at as "triedAt", failures
from inspected_pages where project_id = $project and url = $url
  and {>of_property}

-- name: put_page
-- Stores a page after an inspection. $project, $url, $state, $lastCrawlTime, $inspectedAt, $since, $firstAt, $changes,
-- $repeats, $triedAt, $failures: as the columns.
insert into inspected_pages (project_id, url, state, last_crawl_time, inspected_at, since, first_at, changes, repeats,
  tried_at, failures)
values ($project, $url, $state, $lastCrawlTime, $inspectedAt, $since, $firstAt, $changes, $repeats, $triedAt, $failures)
on conflict (project_id, url) do update set
  state = excluded.state, last_crawl_time = excluded.last_crawl_time, inspected_at = excluded.inspected_at,
  since = excluded.since, first_at = excluded.first_at, changes = excluded.changes, repeats = excluded.repeats,
  tried_at = excluded.tried_at, failures = excluded.failures

-- name: forget_page
-- Forgets an inspected page. $project, $url.
delete from inspected_pages where project_id = $project and url = $url

-- name: attempts
-- What decides when the pages of a project are inspected again, if they are of its property. $project; $indexed: a pattern
-- of states in lower case, of pages that are in the index.
-- rows: url text, inspectedAt integer, goneSince integer, firstAt integer, changes integer, repeats integer,
--   triedAt integer, failures integer
select url, inspected_at as "inspectedAt", case when lower(state) like $indexed escape '\' then null else coalesce(since, 0) end
    as "goneSince",
  first_at as "firstAt", changes, repeats, tried_at as "triedAt", failures
from inspected_pages where project_id = $project
  and {>of_property}

-- name: changes
-- The states that a page had, newest first, if they are of its property. $project, $url.
-- rows: since integer, state text
select since, state from inspection_changes where project_id = $project and url = $url
  and {>of_property}
order by since desc

-- name: histories
-- The states of the pages whose state has changed, by address, oldest first, if they are of the property. $project.
-- rows: url text, since integer, state text, secondAt integer, clicks integer, watched integer
select c.url, c.since, c.state, c.second_at as "secondAt", c.clicks, c.watched
from inspection_changes c
join inspected_pages p on p.project_id = c.project_id and p.url = c.url
where c.project_id = $project and p.changes > 0
  and {>of_property}
order by c.url, c.since

-- name: add_change
-- Stores the first inspection of a page with a state. $project, $url, $state, $clicks, $watched; $since: microseconds.
insert into inspection_changes (project_id, url, since, state, second_at, clicks, watched)
values ($project, $url, $since, $state, null, $clicks, $watched)

-- name: repeat_change
-- Stores the second inspection of a page with its newest state. $project, $url; $at: microseconds.
update inspection_changes set second_at = $at
where project_id = $project and url = $url
  and since = (select max(since) from inspection_changes where project_id = $project and url = $url)

-- name: keep_changes
-- Keeps the newest states of a page only. $project, $url; $newest: how many.
delete from inspection_changes where project_id = $project and url = $url
  and since not in (
    select since from inspection_changes where project_id = $project and url = $url order by since desc limit $newest
  )

-- name: due
-- Connected projects with pages whose inspections are due, those never inspected first. $now: microseconds; $limit.
-- rows: id text
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join inspection_projects i on i.project_id = p.id and i.property = p.property
where p.synced_through is not null and (i.due_at is null or i.due_at <= $now)
order by i.due_at nulls first, p.id limit $limit

-- name: one
-- The inspections of a project's property. $project, $property.
-- rows: dueAt integer, reason text
select due_at as "dueAt", reason from inspection_projects where project_id = $project and property = $property

-- name: put
-- Stores when the next inspections of a property are due. $project, $property; $dueAt: microseconds; $reason.
insert into inspection_projects (project_id, property, due_at, reason) values ($project, $property, $dueAt, $reason)
on conflict (project_id) do update set property = excluded.property, due_at = excluded.due_at, reason = excluded.reason

-- name: forget
-- Forgets the inspections of other properties, with their pages. $project, $property: the current one.
delete from inspection_projects where project_id = $project and property <> $property
