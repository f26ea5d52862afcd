-- The rows of a question, sorted, with how many there are and what they add up to. {columns}: d0, d1, … of a row of facts;
-- {joins}: lists that name rows; {filter}: which rows count; {keys}, {groups}, {order}: of d0, d1, …. $files: of one table;
-- $from, $to: days; $limit, $offset: which of the rows.
select
  r.*,
  cast(count(*) over () as double) as "allRows",
  sum(clicks) over () as "allClicks",
  sum(impressions) over () as "allImpressions",
  sum("sumPosition") over () as "allSumPosition"
from (
  select
    {keys}
    cast(sum(f.clicks) as double) as clicks,
    cast(sum(f.impressions) as double) as impressions,
    cast(sum(f.sum_position) as double) as "sumPosition"
  from (
    select {columns}
    from read_parquet($files) f
    {joins}
    where f.date between cast($from as date) and cast($to as date) and {filter}
  ) f
  {groups}
  having sum(f.clicks) + sum(f.impressions) > 0
) r
order by {order}
offset $offset
limit $limit
