-- Alerts whose keyword is not in the project after the load.
select to_json(struct_pack(id := a.id, project_id := a.project_id, keyword_id := a.keyword_id))::varchar as row,
  1::double as times, count(*) over ()::double as total
from all_alerts a anti join all_keywords k on k.project_id = a.project_id and k.id = a.keyword_id
where a.keyword_id is not null
order by a.id limit 3
