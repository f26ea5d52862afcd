-- The archived keywords of a project by their query, the first $limit. $project.
select id, query, tracked_since as trackedSince, archived, tags, target_url as targetUrl from keywords
where project_id = $project and archived = 1
order by query, id
limit $limit
