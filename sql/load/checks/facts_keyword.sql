-- Facts of a keyword that does not exist after the load. $files: staged Parquet files of a table with keywords.
select to_json(struct_pack(project_id := n.project_id, keyword_id := n.keyword_id))::varchar as row, n.times,
  count(*) over ()::double as total
from (
  select project_id, keyword_id, count(*)::double as times from read_parquet($files) group by project_id, keyword_id
) n
anti join all_keywords k on k.project_id = n.project_id and k.id = n.keyword_id
order by n.project_id, n.keyword_id limit 3
