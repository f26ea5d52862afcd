-- What decides when the pages of a project are inspected again, if they are of its property. $project; $indexed: a pattern
-- of states in lower case, of pages that are in the index.
select url, inspected_at as "inspectedAt", case when lower(state) like $indexed escape '\' then null else coalesce(since, 0) end
    as "goneSince",
  first_at as "firstAt", changes, repeats, tried_at as "triedAt", failures
from inspected_pages where project_id = $project
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
