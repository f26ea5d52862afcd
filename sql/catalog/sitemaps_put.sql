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
