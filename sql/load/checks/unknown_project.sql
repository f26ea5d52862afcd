-- Rows that refer to a project which does not exist after the load.
select to_json(struct_pack(project_id := n.project_id))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from new_{table} n anti join all_projects p on p.id = n.project_id
where n.project_id is not null
group by n.project_id order by n.project_id limit 3
