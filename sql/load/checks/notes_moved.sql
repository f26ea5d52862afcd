-- Notes whose id belongs to another workspace.
select to_json(struct_pack(id := n.id, workspace_id := n.workspace_id, taken_by := o.workspace_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from new_notes n join old_notes o on o.id = n.id
where o.workspace_id <> n.workspace_id
order by n.id limit 3
