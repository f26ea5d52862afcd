-- The states that a page had, newest first, if they are of its property. $project, $url.
select since, state from inspection_changes where project_id = $project and url = $url
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
order by since desc
