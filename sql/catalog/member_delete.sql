-- Removes a member. $workspace, $email.
delete from members where workspace_id = $workspace and email = $email
