-- Stores a page after an inspection. $project, $url, $state, $lastCrawlTime, $inspectedAt, $since, $firstAt, $changes,
-- $repeats, $triedAt, $failures: as the columns.
insert into inspected_pages (project_id, url, state, last_crawl_time, inspected_at, since, first_at, changes, repeats,
  tried_at, failures)
values ($project, $url, $state, $lastCrawlTime, $inspectedAt, $since, $firstAt, $changes, $repeats, $triedAt, $failures)
on conflict (project_id, url) do update set
  state = excluded.state, last_crawl_time = excluded.last_crawl_time, inspected_at = excluded.inspected_at,
  since = excluded.since, first_at = excluded.first_at, changes = excluded.changes, repeats = excluded.repeats,
  tried_at = excluded.tried_at, failures = excluded.failures
