-- What the sync knows of days and keywords.

-- name: of_project
-- What was published of each table and day of a project. $project.
-- rows: table text, day text, state text, final integer, cutOff integer, rows integer, clicks integer, impressions integer,
--   digest text, compared integer, fetchedAt integer, attempts integer, reason text, nextTry integer
select fact_table as "table", day, state, final, cut_off as cutOff, rows, clicks, impressions, digest, compared,
  fetched_at as fetchedAt, attempts, reason, next_try as nextTry
from sync_days where project_id = $project order by fact_table, day

-- name: not_whole
-- Days of a table of which the sync knows more than that they have rows. $project, $table; $from, $to: days.
-- rows: day text, state text, cutOff integer
select day, state, cut_off as cutOff from sync_days
where project_id = $project and fact_table = $table and day between $from and $to and (state <> 'done' or cut_off = 1)

-- name: not_whole_of_workspace
-- As `not_whole`, of all projects of a workspace. $workspace, $table; $from, $to: days.
-- rows: project text, day text, state text, cutOff integer
select d.project_id as project, d.day, d.state, d.cut_off as cutOff
from projects p join sync_days d on d.project_id = p.id
where p.workspace_id = $workspace and d.fact_table = $table and d.day between $from and $to
  and (d.state <> 'done' or d.cut_off = 1)

-- name: last
-- The last final day of a table, and the last one that the provider has reported, as far as the sync knows; null if it does
-- not. $project, $table.
-- rows: final text, reported text
select max(case when final = 1 then day end) as final, max(case when state <> 'failed' then day end) as reported
from sync_days where project_id = $project and fact_table = $table

-- name: last_of_workspace
-- As `last`, of the projects of a workspace that have any. $workspace, $table.
-- rows: project text, final text, reported text
select d.project_id as project,
  max(case when d.final = 1 then d.day end) as final, max(case when d.state <> 'failed' then d.day end) as reported
from sync_days d join projects p on p.id = d.project_id
where p.workspace_id = $workspace and d.fact_table = $table
group by d.project_id

-- name: first_kept
-- The first day of a table among those that were fetched last: a provider that gives all that it keeps has forgotten the days
-- before. $project, $table.
-- rows: day text
select min(day) as day from sync_days
where project_id = $project and fact_table = $table and fetched_at = (
  select max(fetched_at) from sync_days where project_id = $project and fact_table = $table
)

-- name: partial_hours
-- Days whose hours were not all complete when they were last fetched. `followed`: a later day of the same fetch has rows.
-- `missed`: a later fetch no longer had them. $project; $from, $to: days.
-- rows: day text, followed integer, missed integer
with fetched as (
  select day, state, final, fetched_at from sync_days
  where project_id = $project and fact_table = 'site_hourly' and fetched_at > 0
)
select day,
  case when exists (
    select 1 from fetched later where later.fetched_at = d.fetched_at and later.day > d.day and later.state = 'done'
  ) then 1 else 0 end as followed,
  case when fetched_at < (select max(fetched_at) from fetched) then 1 else 0 end as missed
from fetched d where final = 0 and day between $from and $to

-- name: failure
-- Why a table of a project could not be fetched the last time. $project, $table.
-- rows: reason text
select reason from sync_days
where project_id = $project and fact_table = $table and next_try is not null
order by day desc limit 1

-- name: put
-- Stores what was published of a table and day. $project, $table, $day, $state, $final, $cutOff, $rows, $clicks,
-- $impressions, $digest, $compared, $fetchedAt, $attempts, $reason, $nextTry.
insert into sync_days (project_id, fact_table, day, state, final, cut_off, rows, clicks, impressions, digest, compared,
  fetched_at, attempts, reason, next_try)
values ($project, $table, $day, $state, $final, $cutOff, $rows, $clicks, $impressions, $digest, $compared, $fetchedAt,
  $attempts, $reason, $nextTry)
on conflict (project_id, fact_table, day) do update set state = excluded.state, final = excluded.final,
  cut_off = excluded.cut_off, rows = excluded.rows, clicks = excluded.clicks, impressions = excluded.impressions,
  digest = excluded.digest, compared = excluded.compared, fetched_at = excluded.fetched_at,
  attempts = excluded.attempts, reason = excluded.reason, next_try = excluded.next_try

-- name: set_compared
-- Notes at which age a day was compared. $project, $day, $compared.
update sync_days set compared = $compared where project_id = $project and day = $day

-- name: retry
-- Makes what could not be fetched of a table due. $project, $table; $at: microseconds.
update sync_days set attempts = 0, reason = null, next_try = $at
where project_id = $project and fact_table = $table and next_try is not null

-- name: forget
-- Makes all days of a project pending. $project.
delete from sync_days where project_id = $project

-- name: forget_before
-- Forgets the days of a project before a day. $project, $before.
delete from sync_days where project_id = $project and day < $before

-- name: keywords
-- The days for which the keywords of a project have been fetched. $project.
-- rows: id text, query text, from text, to text
select keyword_id as id, query, first_day as "from", last_day as "to" from sync_keywords where project_id = $project

-- name: put_keyword
-- Stores for which days a keyword has been fetched. $project, $id, $query, $from, $to.
insert into sync_keywords (project_id, keyword_id, query, first_day, last_day) values ($project, $id, $query, $from, $to)
on conflict (project_id, keyword_id) do update set query = excluded.query, first_day = excluded.first_day,
  last_day = excluded.last_day

-- name: keywords_begin_at
-- Keywords have been fetched for no day before a day. $project, $before.
update sync_keywords set first_day = $before where project_id = $project and first_day < $before

-- name: keywords_end_before
-- Forgets keywords that were fetched for no day from a day on. $project, $before.
delete from sync_keywords where project_id = $project and last_day < $before

-- name: forget_keywords
-- Forgets for which days the keywords of a project have been fetched. $project.
delete from sync_keywords where project_id = $project
