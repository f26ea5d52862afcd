-- Creates a workspace. $id, $name, $plan; $days: days of keyword history.
insert into workspaces (id, name, plan, keyword_history_days) values ($id, $name, $plan, $days)
