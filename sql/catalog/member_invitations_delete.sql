-- Forgets the invitations of an address. $workspace, $email.
delete from invitations where workspace_id = $workspace and email = $email
