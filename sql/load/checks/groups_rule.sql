-- Groups with a rule whose kind allows none, or without a rule whose kind requires one.
select to_json(struct_pack(project_id, id, kind, rule))::varchar as row, 1::double as times,
  count(*) over ()::double as total
from new_groups where (kind = 'rule') <> (rule is not null)
order by project_id, id limit 3
