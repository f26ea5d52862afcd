-- The pages that should rank for the keywords of a project that are not archived. $project.
select id, target_url as url from keywords where project_id = $project and archived = 0 and target_url is not null
