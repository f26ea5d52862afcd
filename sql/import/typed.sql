-- The rows of an exported table with typed values, null for wrong ones, and their texts; has_data: whether there are any numbers. Numbers are as each language writes
-- them: `1,234`, `1.234`, `1 234`; `8.4`, `8,4`; `12,5 %`. {columns}, {separator}: of the file; {casts}: of the dimensions;
-- {type}: SQL of the search type, {unplaced}: types without positions; {clicks}, {impressions}, {position}, {ctr}: columns.
-- $file.
create or replace temp table typed_rows as
with texts as (
  select *, regexp_replace({clicks}, '[\s\pZ]', '', 'g') as clicks_text,
    regexp_replace({impressions}, '[\s\pZ]', '', 'g') as impressions_text,
    regexp_replace({position}::varchar, '[\s\pZ]', '', 'g') as position_text,
    regexp_replace({ctr}::varchar, '[\s\pZ]', '', 'g') as rate_text
  from read_csv($file, auto_detect = false, columns = {{columns}}, header = true, delim = '{separator}', quote = '"',
    escape = '"', comment = '', strict_mode = false)
), numbers as (
  select *,
    case when regexp_full_match(clicks_text, '\d{1,15}(\.0)?') then clicks_text::double::bigint
      when regexp_full_match(clicks_text, '\d{1,3}([.,''’]\d\d\d){1,4}')
      then regexp_replace(clicks_text, '\D', '', 'g')::bigint end as clicks,
    case when regexp_full_match(impressions_text, '\d{1,15}(\.0)?') then impressions_text::double::bigint
      when regexp_full_match(impressions_text, '\d{1,3}([.,''’]\d\d\d){1,4}')
      then regexp_replace(impressions_text, '\D', '', 'g')::bigint end as impressions,
    case when regexp_full_match(position_text, '\d{1,9}([.,]\d+)?') then replace(position_text, ',', '.')::double
      end as position,
    case when regexp_full_match(rate_text, '\d{1,3}([.,]\d+)?%') then replace(rtrim(rate_text, '%'), ',', '.')::double / 100
      when regexp_full_match(rate_text, '[01]([.,]\d+)?(e-\d+)?') then replace(rate_text, ',', '.')::double end as rate
  from texts
)
select *, {casts}, {type} as search_type, concat(clicks_text, impressions_text, position_text) <> '' as has_data,
  case when impressions = 0 or search_type in ({unplaced}) then 0 when position >= 1 then round((position - 1) * impressions)::bigint end as sum_position
from numbers
