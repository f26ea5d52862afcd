-- Stores what was published of a table and day. $project, $table, $day, $state, $final, $cutOff, $rows, $clicks,
-- $impressions, $digest, $compared, $fetchedAt, $attempts, $reason, $nextTry.
insert into sync_days (project_id, fact_table, day, state, final, cut_off, rows, clicks, impressions, digest, compared,
  fetched_at, attempts, reason, next_try)
values ($project, $table, $day, $state, $final, $cutOff, $rows, $clicks, $impressions, $digest, $compared, $fetchedAt,
  $attempts, $reason, $nextTry)
on conflict (project_id, fact_table, day) do update set state = excluded.state, final = excluded.final,
  cut_off = excluded.cut_off, rows = excluded.rows, clicks = excluded.clicks, impressions = excluded.impressions,
  digest = excluded.digest, compared = excluded.compared, fetched_at = excluded.fetched_at,
  attempts = excluded.attempts, reason = excluded.reason, next_try = excluded.next_try
