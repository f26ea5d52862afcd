-- Groups that are their own ancestor after the load.
with recursive above (project_id, id, ancestor) as (
  select project_id, id, parent_id from all_groups where parent_id is not null
  union
  select a.project_id, a.id, g.parent_id
  from above a join all_groups g on g.project_id = a.project_id and g.id = a.ancestor
  where g.parent_id is not null
)
select to_json(struct_pack(project_id, id))::varchar as row, 1::double as times, count(*) over ()::double as total
from above where id = ancestor
order by project_id, id limit 3
