-- Connected projects that are said to be right although their last successful run was before $before.
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
join sync_projects s on s.project_id = p.id
where p.sync_status = 'ok' and s.last_success_at < $before
