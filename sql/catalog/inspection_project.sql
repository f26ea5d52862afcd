-- The inspections of a project's property. $project, $property.
select due_at as "dueAt", reason from inspection_projects where project_id = $project and property = $property
