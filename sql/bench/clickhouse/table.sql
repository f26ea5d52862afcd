-- The keyword facts of one project, for ClickHouse: ordered by keyword, so that totals of a keyword lie together.
create table keyword_daily (
  keyword_id LowCardinality(String), date Date, device LowCardinality(String),
  clicks UInt32, impressions UInt32, sum_position UInt64
) engine = MergeTree order by (keyword_id, date, device)
