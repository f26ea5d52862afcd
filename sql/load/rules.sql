-- The rules that a load carries, JSON texts.
select project_id, id, rule from new_{table} where rule is not null order by project_id, id
