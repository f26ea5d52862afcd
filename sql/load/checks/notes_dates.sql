-- Notes that end before they start.
select to_json(struct_pack(id, date, end_date))::varchar as row, 1::double as times, count(*) over ()::double as total
from new_notes where end_date < date
order by id limit 3
