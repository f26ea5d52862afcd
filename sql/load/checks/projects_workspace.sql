-- Projects whose workspace does not exist after the load.
select to_json(struct_pack(id := n.id, workspace_id := n.workspace_id))::varchar as row, 1::double as times,
  count(*) over ()::double as total
from new_projects n anti join all_workspaces w on w.id = n.workspace_id
order by n.id limit 3
