-- The keywords of a manual group, archived ones included. $project, $group.
select k.id, k.archived from group_members m
join keywords k on k.project_id = m.project_id and k.id = m.keyword_id
where m.project_id = $project and m.group_id = $group
order by k.id
