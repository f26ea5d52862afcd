-- Does a project have a group with this id? $project, $id.
select 1 as found from groups where project_id = $project and id = $id
