-- Notes whose workspace does not exist after the load, or is not the workspace of their project.
select to_json(struct_pack(id := n.id, workspace_id := n.workspace_id, project_id := n.project_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from new_notes n
left join all_workspaces w on w.id = n.workspace_id
left join all_projects p on p.id = n.project_id
where w.id is null or p.workspace_id <> n.workspace_id
order by n.id limit 3
