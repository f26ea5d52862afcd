-- Creates a workspace. $id, $name, $plan; $days: days of keyword history; $keepDays.
insert into workspaces (id, name, plan, keyword_history_days, keep_days) values ($id, $name, $plan, $days, $keepDays)
