-- Creates a workspace. $id, $name, $plan; $days: days of keyword history; $requests: in a minute by each key, or null;
-- $keepDays.
insert into workspaces (id, name, plan, keyword_history_days, requests_per_minute, keep_days)
values ($id, $name, $plan, $days, $requests, $keepDays)
