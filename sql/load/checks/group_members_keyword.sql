-- Group members whose keyword is not in the project after the load.
select to_json(struct_pack(project_id := m.project_id, group_id := m.group_id, keyword_id := m.keyword_id))::varchar
  as row, 1::double as times, count(*) over ()::double as total
from all_group_members m anti join all_keywords k on k.project_id = m.project_id and k.id = m.keyword_id
order by m.project_id, m.group_id, m.keyword_id limit 3
