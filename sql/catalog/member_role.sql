-- The role of a member. $workspace, $email.
select role from members where workspace_id = $workspace and email = $email
