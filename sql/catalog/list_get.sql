-- The list that is stored for a key. $project, $kind, $from, $to (days), $country ('' for all), $selection ('' for whole
-- lists), $sourceKey.
select file, source, rows, truncated, capped, final, bytes, sha256, fetched_at as fetchedAt from lists
where project_id = $project and kind = $kind and first_day = $from and last_day = $to and country = $country
  and selection = $selection and source_key = $sourceKey
