-- How many rows have a CTR that is not clicks by impressions, also as a share. The least precise one has whole percents.
select count(*) filter (where abs(rate - clicks / impressions) > 0.0051)::double as rows,
  coalesce(count(*) filter (where abs(rate - clicks / impressions) > 0.0051) / nullif(count(*), 0), 0)::double as share
from typed_rows where impressions > 0 and rate is not null
