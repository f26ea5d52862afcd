-- Notes without a project that are not of workspace scope.
select to_json(struct_pack(id, scope, project_id))::varchar as row, 1::double as times, count(*) over ()::double as total
from new_notes where project_id is null and scope <> 'workspace'
order by id limit 3
