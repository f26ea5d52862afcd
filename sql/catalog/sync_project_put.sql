-- Stores what the sync knows of a project. $project, $firstDay, $lastDay, $brandTerms, $country, $lastRunAt,
-- $lastSuccessAt, $lastError, $failures, $nextRunAt, $keptFrom. Whoever asked for a sync after the run began gets another.
insert into sync_projects (project_id, first_day, last_day, brand_terms, country, last_run_at, last_success_at,
  last_error, failures, next_run_at, kept_from)
values ($project, $firstDay, $lastDay, $brandTerms, $country, $lastRunAt, $lastSuccessAt, $lastError, $failures, $nextRunAt,
  $keptFrom)
on conflict (project_id) do update set first_day = excluded.first_day, last_day = excluded.last_day,
  brand_terms = excluded.brand_terms, country = excluded.country, last_run_at = excluded.last_run_at,
  last_success_at = excluded.last_success_at, last_error = excluded.last_error, failures = excluded.failures,
  next_run_at = case when sync_projects.requested_at > excluded.last_run_at then null else excluded.next_run_at end, kept_from = excluded.kept_from
