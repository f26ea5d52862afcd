-- Facts of a keyword that does not exist after the load.
select to_json(struct_pack(project_id := n.project_id, keyword_id := n.keyword_id))::varchar as row, n.times,
  count(*) over ()::double as total
from fact_keywords_{table} n
anti join all_keywords k on k.project_id = n.project_id and k.id = n.keyword_id
order by n.project_id, n.keyword_id limit 3
