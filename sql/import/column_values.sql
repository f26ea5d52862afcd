-- The values of a column of typed rows, with their rows. {column}; {max}: how many values.
select coalesce(trim({column}::varchar), '') as value, count(*)::double as rows from typed_rows
group by value order by value limit {max}
