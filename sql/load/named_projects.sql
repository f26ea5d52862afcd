-- The projects that a load names in its entity tables. One select per table.
create temp table named_projects (id) as
{selects}
