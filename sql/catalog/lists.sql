-- Stored lists of providers.

-- part: list
-- Whose list it is, and of what.
-- rows: file text, project text, kind text, from text, to text, country text
file, project_id as project, kind, first_day as "from", last_day as "to", nullif(country, '') as country

-- name: all
-- Every stored list, or those of one project, the newest first. $project: a project, or null for all.
-- rows: {>list}, part text, source text, rows integer, truncated integer, capped integer, final integer, bytes integer,
--   fetchedAt integer
select {>list},
  case when selection = '' then null when kind = 'queries' then 'one page' else 'one query' end as part, source, rows,
  truncated, capped, final, bytes, fetched_at as fetchedAt
from lists where cast($project as text) is null or project_id = $project order by fetched_at desc, file

-- name: one
-- The list that is stored for a key. $project, $kind, $from, $to (days), $country ('' for all), $selection ('' for whole
-- lists), $sourceKey.
-- rows: file text, source text, rows integer, truncated integer, capped integer, final integer, bytes integer, sha256 text,
--   fetchedAt integer
select file, source, rows, truncated, capped, final, bytes, sha256, fetched_at as fetchedAt from lists
where project_id = $project and kind = $kind and first_day = $from and last_day = $to and country = $country
  and selection = $selection and source_key = $sourceKey

-- name: is_known
-- Does this file belong to a stored list, or to one that was retired and not removed yet? $file.
-- rows: known integer
select 1 as known from lists where file = $file union all select 1 from retired_lists where file = $file

-- name: oldest
-- The list with the oldest fetch, except one. $keep: the file of that one.
-- rows: file text
select file from lists where file <> $keep order by fetched_at limit 1

-- name: of_providers
-- Whole lists from providers that are not final and were fetched after one instant and not later than another. $after,
-- $until: microseconds.
-- rows: {>list}, sourceKey text
select {>list}, source_key as sourceKey
from lists
where fetched_at > $after and fetched_at <= $until and final = 0 and selection = '' and source_key >= 'property ' and source_key < 'property!'

-- name: totals
-- The number of stored lists, and their bytes.
-- rows: lists integer, bytes integer
select lists, bytes from list_totals

-- name: put
-- Stores a list. $file; its key: $project, $kind, $from, $to (days), $country ('' for all), $selection ('' for whole
-- lists), $sourceKey; $source; $rows; $truncated, $capped, $final: 0 or 1; $bytes, $sha256: of the file; $at: microseconds.
insert into lists (file, project_id, kind, first_day, last_day, country, selection, source_key, source, rows, truncated, capped,
  final, bytes, sha256, fetched_at)
values ($file, $project, $kind, $from, $to, $country, $selection, $sourceKey, $source, $rows, $truncated, $capped, $final, $bytes,
  $sha256, $at)

-- name: remove
-- Drops a list. $file.
delete from lists where file = $file

-- name: remove_before
-- Drops the lists of a project that end before a day. $project, $before.
delete from lists where project_id = $project and last_day < $before

-- name: remove_of_providers
-- Drops the lists of a project that came from a provider. $project.
delete from lists where project_id = $project and source_key >= 'property ' and source_key < 'property!'

-- name: remove_of_other_sources
-- Drops the lists of a project that come from none of its current sources: weeks of Bing are stored, while other lists come
-- from a provider. $project, $sourceKey: that of a list. Two ranges of an index, so that its other lists are not read.
delete from lists where project_id = $project and (source_key < $sourceKey or source_key > $sourceKey)
  and source_key not in (
    select 'facts ' || facts_revision from projects where id = $project
    union all select 'property ' || property from projects where id = $project
  )

-- name: remove_outdated
-- Drops lists made from facts of an older revision, or from a property that the project no longer has.
delete from lists where file in (
  select l.file from lists l join projects p on p.id = l.project_id
  where l.source_key <> 'facts ' || p.facts_revision and l.source_key <> 'property ' || p.property
)

-- name: remove_all
-- Forgets all stored lists, whose files are not part of a backup.
delete from lists

-- name: retired
-- Files of retired lists, the oldest first. $before: retired before this instant (microseconds).
-- rows: file text, retiredAt integer
select file, retired_at as retiredAt from retired_lists where retired_at < $before order by retired_at

-- name: retire
-- Retires the file of a list that is about to be stored, so that it is removed later if that fails. $file; $at: microseconds.
insert into retired_lists (file, retired_at) values ($file, $at) on conflict (file) do update set retired_at = excluded.retired_at

-- name: forget_retired
-- Deletes the record of a retired file after its removal. $file.
delete from retired_lists where file = $file

-- name: forget_all_retired
-- Forgets the files of retired lists.
delete from retired_lists
