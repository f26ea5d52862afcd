-- The rows of a report about AI answers with typed values, null for wrong ones, and their texts. Days are written
-- YYYY-MM-DD, or as Bing does (9/5/2026 12:00:00 AM). {columns}, {separator}: of the file; {date}, {page}, {count}: columns,
-- or null. $file.
create or replace temp table typed_rows as
with texts as (
  select *, trim({date}::varchar) as date_text, trim({page}::varchar) as page_text,
    regexp_replace({count}, '[\s\pZ]', '', 'g') as count_text
  from read_csv($file, auto_detect = false, columns = {{columns}}, header = true, delim = '{separator}', quote = '"',
    escape = '"', comment = '', strict_mode = false)
)
select *,
  case when regexp_full_match(date_text, '\d\d\d\d-\d\d-\d\d([ T]00:00:00(\.0+)?Z?)?') then try_cast(left(date_text, 10) as date)
    when regexp_full_match(date_text, '\d{1,2}/\d{1,2}/\d\d\d\d 12:00:00 AM')
    then try_strptime(split_part(date_text, ' ', 1), '%m/%d/%Y')::date end as date,
  case when regexp_matches(page_text, '^https?://\S+$', 'i') then page_text end as page,
  case when regexp_full_match(count_text, '\d{1,15}(\.0)?') then count_text::double::bigint
    when regexp_full_match(count_text, '\d{1,3}([.,''’]\d\d\d){1,4}')
    then regexp_replace(count_text, '\D', '', 'g')::bigint end as count
from texts
