-- The queries of a range, best first, from rows counted by property, without anonymised queries.
-- @from, @to: days; @site: the property; @country: a country, or '' for all; @max: rows. Positions stay zero-based.
select
  query as text, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_top_position) as sum_position
from {site_impression}
where cast(data_date as date) between @from and @to and site_url = @site and lower(search_type) = 'web'
  and (@country = '' or lower(country) = @country)
  and coalesce(query, '') <> '' and not coalesce(is_anonymized_query, false)
group by text
order by clicks desc, impressions desc, text
limit @max
