-- Query texts that several unarchived keywords of a project share after the load.
select to_json(struct_pack(project_id, query, ids := list(id order by id)))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from all_keywords where not archived
group by project_id, query having count(*) > 1 order by project_id, query limit 3
