-- Groups whose parent is not a folder of their project after the load.
select to_json(struct_pack(project_id := g.project_id, id := g.id, parent_id := g.parent_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from all_groups g
anti join (select project_id, id from all_groups where kind = 'folder') f
  on f.project_id = g.project_id and f.id = g.parent_id
where g.parent_id is not null
order by g.project_id, g.id limit 3
