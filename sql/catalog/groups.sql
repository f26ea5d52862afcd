-- Groups of keywords, and of pages.

-- name: of_project
-- The groups of a project in rank-tracker order. $project.
-- rows: {groups_fields}
select {groups_fields}
from groups where project_id = $project order by position, id

-- name: exists
-- Does a project have a group with this id? $project, $id.
-- rows: found integer
select 1 as found from groups where project_id = $project and id = $id

-- name: members
-- The keywords of a manual group, archived ones included. $project, $group.
-- rows: id text, archived integer
select k.id, k.archived from group_members m
join keywords k on k.project_id = m.project_id and k.id = m.keyword_id
where m.project_id = $project and m.group_id = $group
order by k.id

-- name: keywords
-- The manual groups of each keyword that is not archived, and the keywords of each group; ordered by id. $project.
-- rows: groupId text, keywordId text
select m.group_id as groupId, m.keyword_id as keywordId
from group_members m join keywords k on k.project_id = m.project_id and k.id = m.keyword_id
where m.project_id = $project and k.archived = 0
order by m.group_id, m.keyword_id

-- name: of_pages
-- The page groups of a project in order. $project.
-- rows: {page_groups_fields}
select {page_groups_fields}
from page_groups where project_id = $project order by position, id
