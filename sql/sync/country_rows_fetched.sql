-- Adds days of countries that were fetched. $files: their files.
insert into country_rows
select date, country, clicks, impressions, sum_position from read_ndjson($files, columns = {
  date: 'DATE', country: 'VARCHAR', clicks: 'BIGINT', impressions: 'BIGINT', sum_position: 'BIGINT'
})
