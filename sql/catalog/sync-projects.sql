-- What the sync knows of projects, and which of them are due.

-- part: connected
-- Projects with a connection to the reporting API, which the sync fills.
projects p join connections c on c.project_id = p.id and c.kind = 'search-console'

-- name: due
-- Connected projects whose next run is due: those that somebody asked for, those that have never run, then those that only need new days, then those
-- whose history is not complete; within each, who has waited longest. $now, $limit.
-- rows: id text
select p.id from {>connected}
left join sync_projects s on s.project_id = p.id
where s.next_run_at is null or s.next_run_at <= $now
order by case when s.requested_at > coalesce(s.last_run_at, 0) then 0 else 1 end, s.last_run_at is not null, p.history_backfilling, s.next_run_at nulls first, p.id limit $limit

-- name: is_due
-- Whether the next run of a connected project is due, as `due`. $project; $now: microseconds.
-- rows: due integer
select 1 as due from {>connected}
left join sync_projects s on s.project_id = p.id
where p.id = $project and (s.next_run_at is null or s.next_run_at <= $now)

-- name: asked
-- Connected projects whose sync somebody has asked for since their last run began; who asked first goes first. $limit.
-- rows: id text
select p.id from {>connected}
join sync_projects s on s.project_id = p.id
where s.requested_at > coalesce(s.last_run_at, 0)
order by s.requested_at, p.id limit $limit

-- name: stale
-- Connected projects that are said to be right although their last successful run was before $before.
-- rows: id text
select p.id from {>connected}
join sync_projects s on s.project_id = p.id
where p.sync_status = 'ok' and s.last_success_at < $before

-- name: oldest
-- The connected projects whose last successful sync is the oldest; a project without one counts since its creation. $limit.
-- rows: project text, since integer
select p.id as project, coalesce(s.last_success_at, p.created_at) as since
from {>connected}
left join sync_projects s on s.project_id = p.id
order by since, p.id limit $limit

-- name: counts
-- Connected projects by what their last sync said. `stale`: the last success, or else the creation, is before $before;
-- `failing`: the last run failed; `due`: the next run is due at $now.
-- rows: status text, projects integer, stale integer, failing integer, due integer
select p.sync_status as status, count(*) as projects,
  count(*) filter (where coalesce(s.last_success_at, p.created_at) < $before) as stale,
  count(*) filter (where coalesce(s.failures, 0) > 0) as failing,
  count(*) filter (where s.next_run_at is null or s.next_run_at <= $now) as due
from {>connected}
left join sync_projects s on s.project_id = p.id group by p.sync_status

-- name: connected
-- Projects with a connection to the reporting API, oldest first.
-- rows: id text
select p.id from {>connected}
order by p.created_at, p.id

-- name: one
-- What the sync knows of a project. $project.
-- rows: firstDay text, lastDay text, brandTerms text, country text, lastRunAt integer, lastSuccessAt integer,
--   lastError text, failures integer, nextRunAt integer, keptFrom text
select first_day as firstDay, last_day as lastDay, brand_terms as brandTerms, country, last_run_at as lastRunAt,
  last_success_at as lastSuccessAt, last_error as lastError, failures, next_run_at as nextRunAt,
  kept_from as keptFrom
from sync_projects where project_id = $project

-- name: put
-- Stores what the sync knows of a project. $project, $firstDay, $lastDay, $brandTerms, $country, $lastRunAt,
-- $lastSuccessAt, $lastError, $failures, $nextRunAt, $keptFrom. Whoever asked for a sync after the run began gets another.
insert into sync_projects (project_id, first_day, last_day, brand_terms, country, last_run_at, last_success_at,
  last_error, failures, next_run_at, kept_from)
values ($project, $firstDay, $lastDay, $brandTerms, $country, $lastRunAt, $lastSuccessAt, $lastError, $failures, $nextRunAt,
  $keptFrom)
on conflict (project_id) do update set first_day = excluded.first_day, last_day = excluded.last_day,
  brand_terms = excluded.brand_terms, country = excluded.country, last_run_at = excluded.last_run_at,
  last_success_at = excluded.last_success_at, last_error = excluded.last_error, failures = excluded.failures,
  next_run_at = case when sync_projects.requested_at > excluded.last_run_at then null else excluded.next_run_at end, kept_from = excluded.kept_from

-- name: set_state
-- Stores how the sync of a project stands. Null for $lastSyncedAt leaves it. $id, $syncStatus, $lastSyncedAt,
-- $syncedThrough, $provisionalAfter, $historyBackfilling.
update projects set sync_status = $syncStatus, last_synced_at = coalesce($lastSyncedAt, last_synced_at),
  synced_through = $syncedThrough, provisional_after = $provisionalAfter, history_backfilling = $historyBackfilling
where id = $id

-- name: request
-- Makes a project due for the sync, also the days that were fetched before. $project; $at: microseconds.
insert into sync_projects (project_id, requested_at) values ($project, $at)
on conflict (project_id) do update set next_run_at = null, requested_at = excluded.requested_at

-- name: requested
-- When somebody last asked for a sync of a project. $project.
-- rows: requestedAt integer
select requested_at as requestedAt from sync_projects where project_id = $project

-- name: now
-- Makes a project due for the sync. $project.
update sync_projects set next_run_at = null where project_id = $project

-- name: set_failing
-- Stores whether the sync of a project fails; changes nothing where that is known. $project; $failing: 0 or 1.
update sync_projects set failing = $failing where project_id = $project and failing <> $failing

-- name: reconciled
-- When final days of a project were last compared with the provider. $project.
-- rows: reconciledAt integer
select reconciled_at as reconciledAt from sync_projects where project_id = $project

-- name: reconciled_of_workspace
-- When final days of the projects of a workspace were last compared with the provider. $workspace.
-- rows: project text, reconciledAt integer
select s.project_id as project, s.reconciled_at as reconciledAt
from projects p join sync_projects s on s.project_id = p.id
where p.workspace_id = $workspace and s.reconciled_at is not null

-- name: set_reconciled
-- Notes that final days of a project were compared with the provider. $project; $at: microseconds.
update sync_projects set reconciled_at = $at where project_id = $project

-- name: hours
-- The first hour of a project that may still change. $project.
-- rows: until integer
select hours_until as "until" from sync_projects where project_id = $project

-- name: set_hours
-- Stores the first hour of a project that may still change. $project; $until: microseconds.
update sync_projects set hours_until = $until
where project_id = $project and (hours_until is null or hours_until <> $until)
