-- Notes whose keyword is not in the project after the load.
select to_json(struct_pack(id := n.id, project_id := n.project_id, keyword_id := n.keyword_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from all_notes n anti join all_keywords k on k.project_id = n.project_id and k.id = n.keyword_id
where n.keyword_id is not null
order by n.id limit 3
