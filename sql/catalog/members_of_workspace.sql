-- The members of a workspace. $workspace.
select email, role from members where workspace_id = $workspace order by email
