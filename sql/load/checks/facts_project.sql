-- Facts of a project that does not exist after the load. $files: staged Parquet files of one table.
select to_json(struct_pack(project_id := n.project_id))::varchar as row, n.times, count(*) over ()::double as total
from (select project_id, count(*)::double as times from read_parquet($files) group by project_id) n
anti join all_projects p on p.id = n.project_id
order by n.project_id limit 3
