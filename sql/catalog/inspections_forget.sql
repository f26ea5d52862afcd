-- Forgets the inspections of other properties, with their pages. $project, $property: the current one.
delete from inspection_projects where project_id = $project and property <> $property
