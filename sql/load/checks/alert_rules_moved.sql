-- Alert rules whose id another project has already.
select to_json(struct_pack(id := n.id, project_id := n.project_id, taken_by := o.project_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from new_alert_rules n join old_alert_rules o on o.id = n.id
where o.project_id <> n.project_id
order by n.id limit 3
