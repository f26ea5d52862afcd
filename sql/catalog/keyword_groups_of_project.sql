-- The manual groups of each keyword that is not archived, and the keywords of each group; ordered by id. $project.
select m.group_id as groupId, m.keyword_id as keywordId
from group_members m join keywords k on k.project_id = m.project_id and k.id = m.keyword_id
where m.project_id = $project and k.archived = 0
order by m.group_id, m.keyword_id
