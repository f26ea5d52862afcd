-- Drops the lists of a project that came from a provider. $project.
delete from lists where project_id = $project and source_key >= 'property ' and source_key < 'property!'
