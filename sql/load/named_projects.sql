-- The projects that a load names in its entity tables. One select for each of them.
create temp table named_projects (id) as
{selects}
