-- When final days of a project were last compared with the provider. $project.
select reconciled_at as reconciledAt from sync_projects where project_id = $project
