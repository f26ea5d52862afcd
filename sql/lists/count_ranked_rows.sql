-- How many ranked rows there are.
select count(*)::double as rows from ranked_rows
