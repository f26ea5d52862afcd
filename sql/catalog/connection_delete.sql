-- Removes a project's connection to one kind of provider. $project, $kind.
delete from connections where project_id = $project and kind = $kind
