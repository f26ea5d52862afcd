-- The workspaces that a load names. One select for each table that names some.
create temp table named_workspaces (id) as
{selects}
