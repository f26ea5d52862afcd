-- Projects with a connection to the reporting API, oldest first.
select p.id from projects p join connections c on c.project_id = p.id and c.kind = 'search-console'
order by p.created_at, p.id
