-- A key that several rows have. {keys}: columns.
select to_json(row({keys}))::varchar as row, count(*)::double as rows from typed_rows
group by {keys} having count(*) > 1 order by {keys} limit 1
