-- What the sync knows of a project. $project.
select first_day as firstDay, last_day as lastDay, brand_terms as brandTerms, country, last_run_at as lastRunAt,
  last_success_at as lastSuccessAt, last_error as lastError, failures, next_run_at as nextRunAt,
  kept_from as keptFrom
from sync_projects where project_id = $project
