-- Stores when the next inspections of a property are due. $project, $property; $dueAt: microseconds; $reason.
insert into inspection_projects (project_id, property, due_at, reason) values ($project, $property, $dueAt, $reason)
on conflict (project_id) do update set property = excluded.property, due_at = excluded.due_at, reason = excluded.reason
