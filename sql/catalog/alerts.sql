-- Alerts, loaded and evaluated, and how far projects have been evaluated.

-- name: of_project
-- The newest alerts of a project. $project; $status: open, resolved or all; $since: microseconds; $limit;
-- $siteOnly: 1 for those about the whole site only, whose texts have no query.
-- rows: {alerts_fields}
select {alerts_fields}
from all_alerts alerts
where project_id = $project and created_at >= $since
  and case $status when 'open' then resolved_at is null when 'resolved' then resolved_at is not null else true end
  and ($siteOnly = 0 or (type in ('traffic_drop', 'hourly_stop') and keyword_id is null))
order by created_at desc, id
limit $limit

-- name: of_workspace
-- The newest alerts of the projects of a workspace. $workspace; $status: open or all; $since: microseconds of
-- creation; $limit.
-- rows: id text, project text, type text, kind text, severity text, title text, date text, createdAt integer,
--   resolvedAt integer
select a.id, a.project_id as project, a.type, a.kind, a.severity, a.title, a.date, a.created_at as createdAt,
  a.resolved_at as resolvedAt
from all_alerts a join projects p on p.id = a.project_id
where p.workspace_id = $workspace and a.created_at >= $since
  and ($status = 'all' or a.resolved_at is null)
order by a.created_at desc, a.id
limit $limit

-- name: counts
-- How many alerts of a project are open and resolved. $project.
-- rows: open integer, resolved integer
select cast(coalesce(sum(case when resolved_at is null then 1 else 0 end), 0) as integer) as "open",
  cast(coalesce(sum(case when resolved_at is null then 0 else 1 end), 0) as integer) as resolved
from all_alerts where project_id = $project

-- name: counts_of_workspace
-- Alerts of each project of a workspace that has any: open ones, and those that opened since. $workspace; $since: microseconds.
-- rows: project text, open integer, fresh integer
select a.project_id as project,
  cast(sum(case when a.resolved_at is null then 1 else 0 end) as integer) as "open",
  cast(sum(case when a.created_at >= $since then 1 else 0 end) as integer) as fresh
from all_alerts a join projects p on p.id = a.project_id
where p.workspace_id = $workspace
group by a.project_id

-- name: due
-- The projects with facts whose facts or entities have changed since they were evaluated.
-- rows: id text
select p.id from projects p left join alert_evaluations e on e.project_id = p.id
where p.setup_finished = 1 and p.synced_through is not null
  and exists (select 1 from fact_files f where f.project_id = p.id)
  and (e.project_id is null or e.facts_revision <> p.facts_revision or e.entities_revision <> p.entities_revision)
order by p.id

-- name: evaluation
-- How far a project has been evaluated. $project.
-- rows: settledThrough text, evaluatedThrough text, state text, rules text, factsRevision integer, entitiesRevision integer
select settled_through as settledThrough, evaluated_through as evaluatedThrough, state, rules,
  facts_revision as factsRevision, entities_revision as entitiesRevision
from alert_evaluations where project_id = $project

-- name: put_evaluation
-- Stores how far a project has been evaluated. $project, $settledThrough, $evaluatedThrough: days; $state, $rules: JSON;
-- $factsRevision, $entitiesRevision; $at: microseconds.
insert into alert_evaluations
values ($project, $settledThrough, $evaluatedThrough, $state, $rules, $factsRevision, $entitiesRevision, $at)
on conflict (project_id) do update set settled_through = excluded.settled_through,
  evaluated_through = excluded.evaluated_through, state = excluded.state, rules = excluded.rules,
  facts_revision = excluded.facts_revision, entities_revision = excluded.entities_revision,
  evaluated_at = excluded.evaluated_at

-- name: evaluated
-- The evaluated alerts of a project. $project.
-- rows: id text, type text, subject text, basis text, kind text, severity text, title text, body text, date text,
--   keywordId text, url text, createdAt integer, resolvedAt integer
select id, type, subject, basis, kind, severity, title, body, date, keyword_id as keywordId, url,
  created_at as createdAt, resolved_at as resolvedAt
from evaluated_alerts where project_id = $project

-- name: put
-- Stores an evaluated alert, in place of the one with its id. $id, $project, $type, $subject, $basis, $kind, $severity, $title,
-- $body, $date, $keywordId, $url; $createdAt, $resolvedAt: microseconds.
insert into evaluated_alerts
values ($id, $project, $type, $subject, $basis, $kind, $severity, $title, $body, $date, $keywordId, $url, $createdAt, $resolvedAt)
on conflict (id) do update set severity = excluded.severity, title = excluded.title, body = excluded.body,
  url = excluded.url, resolved_at = excluded.resolved_at

-- name: remove
-- Removes an evaluated alert. $id.
delete from evaluated_alerts where id = $id

-- name: synced_days
-- Which days of the tables that alerts are made of are whole, as far as the sync knows. $project; $from, $to: days.
-- rows: table text, day text, isComplete boolean
select fact_table as "table", day, state <> 'failed' and cut_off = 0 as isComplete from sync_days
where project_id = $project and fact_table in ('site_daily', 'keyword_daily', 'keyword_page_daily', 'page_daily')
  and day between $from and $to
