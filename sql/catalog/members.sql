-- Members of workspaces; removing one ends what the address can do.

-- name: of_workspace
-- The members of a workspace, in no order. $workspace.
-- rows: email text, role text
select email, role from members where workspace_id = $workspace

-- name: one
-- A member of a workspace. $workspace, $email: in any case.
-- rows: email text, role text
select email, role from members where workspace_id = $workspace and email = $email

-- name: put
-- Adds a member or changes the role of one. $workspace, $email, $role.
insert into members (workspace_id, email, role) values ($workspace, $email, $role)
on conflict (workspace_id, email) do update set role = excluded.role

-- name: change_role
-- Changes the role of a member. $workspace, $email, $role.
update members set role = $role where workspace_id = $workspace and email = $email

-- name: remove
-- Removes a member. $workspace, $email.
delete from members where workspace_id = $workspace and email = $email

-- name: end_sessions
-- Ends the sessions of a member. $workspace, $email.
delete from sessions where workspace_id = $workspace and email collate nocase = $email

-- name: remove_links
-- Forgets the sign-in links of a member. $workspace, $email.
delete from login_links where workspace_id = $workspace and email collate nocase = $email

-- name: remove_invitations
-- Forgets the invitations of an address. $workspace, $email.
delete from invitations where workspace_id = $workspace and email = $email
