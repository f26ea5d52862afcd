-- The workspaces that a load names.
create temp table named_workspaces as
select id from new_workspaces union select workspace_id from new_projects union select workspace_id from new_notes
