-- The keywords of a project that are not archived, in order of their query. $project.
select id, query, source, tracked_since as trackedSince, intent
from keywords where project_id = $project and archived = 0 order by query, id
