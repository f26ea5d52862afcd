-- Stores the second inspection of a page with its newest state. $project, $url; $at: microseconds.
update inspection_changes set second_at = $at
where project_id = $project and url = $url
  and since = (select max(since) from inspection_changes where project_id = $project and url = $url)
