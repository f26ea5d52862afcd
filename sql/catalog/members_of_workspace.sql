-- The members of a workspace, in no order. $workspace.
select email, role from members where workspace_id = $workspace
