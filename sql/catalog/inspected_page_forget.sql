-- Forgets an inspected page. $project, $url.
delete from inspected_pages where project_id = $project and url = $url
