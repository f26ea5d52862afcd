-- Adds a member or changes the role of one. $workspace, $email, $role.
insert into members (workspace_id, email, role) values ($workspace, $email, $role)
on conflict (workspace_id, email) do update set role = excluded.role
