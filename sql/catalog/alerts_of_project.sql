-- The newest alerts of a project. $project; $status: open, resolved or all; $since: microseconds; $limit;
-- $siteOnly: 1 for those about the whole site only, whose texts have no query.
select id, type, kind, severity, title, body, date, keyword_id as keywordId, url,
  created_at as createdAt, resolved_at as resolvedAt
from all_alerts
where project_id = $project and created_at >= $since
  and case $status when 'open' then resolved_at is null when 'resolved' then resolved_at is not null else true end
  and ($siteOnly = 0 or (type in ('traffic_drop', 'hourly_stop') and keyword_id is null))
order by created_at desc, id
limit $limit
