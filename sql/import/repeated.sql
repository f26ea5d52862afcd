-- A key that several rows have. {keys}: columns; {pack}: the same as arguments of struct_pack.
select to_json(struct_pack({pack}))::varchar as row, count(*)::double as rows from typed_rows
group by {keys} having count(*) > 1 order by {keys} limit 1
