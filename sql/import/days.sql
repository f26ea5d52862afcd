-- First and last day of typed rows.
select min(date)::varchar as "firstDay", max(date)::varchar as "lastDay" from typed_rows
