-- Group members whose group is not a manual group of the project after the load.
select to_json(struct_pack(project_id := m.project_id, group_id := m.group_id, keyword_id := m.keyword_id))::varchar
  as row, 1::double as times, count(*) over ()::double as total
from all_group_members m
anti join (select project_id, id from all_groups where kind = 'manual') g
  on g.project_id = m.project_id and g.id = m.group_id
order by m.project_id, m.group_id, m.keyword_id limit 3
