-- Whole lists from providers that are not final and were fetched after one instant and not later than another. $after,
-- $until: microseconds.
select file, project_id as project, kind, first_day as "from", last_day as "to", nullif(country, '') as country,
  source_key as sourceKey
from lists
where fetched_at > $after and fetched_at <= $until and final = 0 and selection = '' and source_key >= 'property ' and source_key < 'property!'
