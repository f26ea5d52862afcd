-- The rules in a load, as JSON texts.
select project_id, id, rule from new_{table} where rule is not null order by project_id, id
