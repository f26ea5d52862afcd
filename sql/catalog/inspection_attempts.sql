-- What decides when the pages of a project are inspected again, if they are of its property. $project.
select url, inspected_at as "inspectedAt", first_at as "firstAt", changes, repeats, tried_at as "triedAt", failures
from inspected_pages where project_id = $project
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
