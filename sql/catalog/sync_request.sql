-- Makes a project due for the sync, also the days that were fetched before. $project; $at: microseconds.
insert into sync_projects (project_id, requested_at) values ($project, $at)
on conflict (project_id) do update set next_run_at = null, requested_at = excluded.requested_at
