-- A member of a workspace. $workspace, $email: in any case.
select email, role from members where workspace_id = $workspace and email = $email
