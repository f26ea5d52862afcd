-- A list that was computed already. $project; $kind: pages or queries; $from, $to: days; $country: '' for all;
-- $revision.
select file, rows, bytes, fetched_at as fetchedAt from lists
where project_id = $project and kind = $kind and first_day = $from and last_day = $to and country = $country
  and revision = $revision
