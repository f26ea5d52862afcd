-- A file of a project: current, or replaced since and not removed yet. A former project of the same id had lower
-- revisions. firstDay: null where it is not recorded. $project, $file.
select file, bytes, sha256, first_day as firstDay, 1 as isCurrent from fact_files
where file = $file and project_id = $project
union all
select r.file, r.bytes, r.sha256, null, 0 from retired_files r join projects p on p.id = $project
where r.file = $file and r.revision > 0 and r.revision >= p.files_since
limit 1
