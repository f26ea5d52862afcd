-- Notes whose group is not in the project after the load.
select to_json(struct_pack(id := n.id, project_id := n.project_id, group_id := n.group_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from all_notes n anti join all_groups g on g.project_id = n.project_id and g.id = n.group_id
where n.group_id is not null
order by n.id limit 3
