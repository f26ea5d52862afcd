-- Alerts whose id belongs to another project.
select to_json(struct_pack(id := n.id, project_id := n.project_id, taken_by := o.project_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from new_alerts n join old_alerts o on o.id = n.id
where o.project_id <> n.project_id
order by n.id limit 3
