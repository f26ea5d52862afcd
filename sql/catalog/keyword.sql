-- A keyword of a project, also an archived one. $project, $id.
select id, query, archived, tags, target_url as targetUrl from keywords where project_id = $project and id = $id
