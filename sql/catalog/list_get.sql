-- A list that was computed already.
select file, rows, bytes, fetched_at as fetchedAt from lists
where project_id = $project and kind = $kind and first_day = $from and last_day = $to and country = $country
  and revision = $revision
