-- The projects that a load names in its entity tables.
create temp table named_projects as
{selects}
