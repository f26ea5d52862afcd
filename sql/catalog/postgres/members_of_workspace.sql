-- As members_of_workspace.sql. In the order of SQLite: lower case, by bytes. $workspace.
select email, role from members where workspace_id = $workspace order by lower(email) collate "C"
