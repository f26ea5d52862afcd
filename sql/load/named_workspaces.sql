-- The workspaces that a load names. One select per table that names some.
create temp table named_workspaces (id) as
{selects}
