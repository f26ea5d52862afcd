-- The list that is kept for a key. $project, $kind, $from, $to (days), $country ('' for all), $basis.
select file, source, rows, truncated, capped, final, bytes, fetched_at as fetchedAt from lists
where project_id = $project and kind = $kind and first_day = $from and last_day = $to and country = $country
  and basis = $basis
