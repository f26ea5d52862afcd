-- Facts of queries with and without a brand term; anonymised rows are neither. $rows: property rows; $terms: brand
-- terms in lower case; $words: an expression that finds those of whole words, or null; $project; $target.
copy (
  select $project as project_id, date,
    case
      when len(list_filter($terms, term -> contains(lower(query), term))) > 0
        or coalesce(regexp_matches(lower(query), $words::varchar), false) then 'brand'
      else 'non_brand'
    end
      as segment,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from read_parquet($rows) where query is not null group by date, segment
) to $target (format parquet)
