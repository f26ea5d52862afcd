-- Keeps the newest states of a page only. $project, $url; $newest: how many.
delete from inspection_changes where project_id = $project and url = $url
  and since not in (
    select since from inspection_changes where project_id = $project and url = $url order by since desc limit $newest
  )
