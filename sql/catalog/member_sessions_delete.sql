-- Ends the sessions of a member. $workspace, $email.
delete from sessions where workspace_id = $workspace and email collate nocase = $email
