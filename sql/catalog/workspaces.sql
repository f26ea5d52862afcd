-- Workspaces and their limits.

-- name: all
-- All workspaces, with the number of their projects.
-- rows: id text, name text, plan text, keywordHistoryDays integer, requestsPerMinute integer, keepDays integer,
--   projects integer
select
  w.id, w.name, w.plan, w.keyword_history_days as keywordHistoryDays, w.requests_per_minute as requestsPerMinute,
  w.keep_days as keepDays, count(p.id) as projects
from workspaces w left join projects p on p.workspace_id = w.id group by w.id order by w.id

-- name: one
-- One workspace. $id.
-- rows: id text, name text, plan text, keywordHistoryDays integer, requestsPerMinute integer, keepDays integer
select
  id, name, plan, keyword_history_days as keywordHistoryDays, requests_per_minute as requestsPerMinute,
  keep_days as keepDays
from workspaces where id = $id

-- name: contents
-- How many rows besides projects belong to a workspace and are deleted with it. $workspace.
-- rows: id text, name text, keys integer, revokedKeys integer, members integer, notes integer
select w.id, w.name,
  (select count(*) from keys where workspace_id = w.id and revoked_at is null) as keys,
  (select count(*) from keys where workspace_id = w.id and revoked_at is not null) as revokedKeys,
  (select count(*) from members where workspace_id = w.id) as members,
  (select count(*) from notes where workspace_id = w.id and project_id is null) as notes
from workspaces w where w.id = $workspace

-- name: add
-- Creates a workspace. $id, $name, $plan; $days: days of keyword history; $requests: in a minute by each key, or null;
-- $keepDays.
insert into workspaces (id, name, plan, keyword_history_days, requests_per_minute, keep_days)
values ($id, $name, $plan, $days, $requests, $keepDays)

-- name: set_requests
-- Sets how many requests each key of a workspace may send in a minute. $id; $requests: null for the default.
update workspaces set requests_per_minute = $requests where id = $id

-- name: set_keep_days
-- Sets how many days of facts a workspace keeps. $id, $keepDays.
update workspaces set keep_days = $keepDays where id = $id

-- name: remove
-- Deletes a workspace and everything that belongs to it, including its projects. $workspace.
delete from workspaces where id = $workspace
