-- Sitemaps of properties.

-- name: one
-- What is known of the sitemaps of a project's property. $project, $property.
-- rows: sitemaps text, fetchedAt integer, reason text
select sitemaps, fetched_at as "fetchedAt", reason from sitemaps where project_id = $project and property = $property

-- name: due
-- Connected projects whose sitemaps are due, those never read first. $now: microseconds; $limit.
-- rows: id text
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sitemaps s on s.project_id = p.id and s.property = p.property
where s.due_at is null or s.due_at <= $now
order by s.due_at nulls first, p.id limit $limit

-- name: put
-- Stores the sitemaps of a property, or why they could not be read: what was read before stays. $project, $property, $sitemaps:
-- null after a failure; $fetchedAt, $dueAt: microseconds; $reason: null after a success.
insert into sitemaps (project_id, property, sitemaps, fetched_at, reason, due_at)
values ($project, $property, $sitemaps, $fetchedAt, $reason, $dueAt)
on conflict (project_id) do update set
  sitemaps = case when sitemaps.property = excluded.property then coalesce(excluded.sitemaps, sitemaps.sitemaps)
    else excluded.sitemaps end,
  fetched_at = case when sitemaps.property = excluded.property then coalesce(excluded.fetched_at, sitemaps.fetched_at)
    else excluded.fetched_at end,
  property = excluded.property, reason = excluded.reason, due_at = excluded.due_at
