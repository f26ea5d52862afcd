-- Lists of a project that came from a provider. $project.
select file from lists where project_id = $project and basis like 'property %'
