-- Stores an evaluated alert, in place of the one with its id. $id, $project, $type, $subject, $basis, $kind, $severity, $title,
-- $body, $date, $keywordId, $url; $createdAt, $resolvedAt: microseconds.
insert into evaluated_alerts
values ($id, $project, $type, $subject, $basis, $kind, $severity, $title, $body, $date, $keywordId, $url, $createdAt, $resolvedAt)
on conflict (id) do update set severity = excluded.severity, title = excluded.title, body = excluded.body,
  url = excluded.url, resolved_at = excluded.resolved_at
