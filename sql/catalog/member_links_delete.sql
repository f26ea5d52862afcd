-- Forgets the sign-in links of a member. $workspace, $email.
delete from login_links where workspace_id = $workspace and email collate nocase = $email
