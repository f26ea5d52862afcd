-- A new workspace.
insert into workspaces (id, name, plan, keyword_history_days) values ($id, $name, $plan, $days)
