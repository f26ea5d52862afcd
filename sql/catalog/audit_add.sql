-- Adds a row to the audit trail. $at: microseconds; $workspace: or null; $actor, $action; $subject: or null; $details:
-- JSON.
insert into audit (at, workspace_id, actor, action, subject, details)
values ($at, $workspace, $actor, $action, $subject, $details)
