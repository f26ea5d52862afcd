-- Alert rules of the load about what will not exist after it.
with named as (
  select id, project_id, rule ->> '$.scope' as scope, rule ->> '$.id' as subject from new_alert_rules
),
known as (
  select 'keyword' as scope, project_id, id from all_keywords
  union all
  select 'group', project_id, id from all_groups
  union all
  select 'page_group', project_id, id from all_page_groups
)
select to_json(struct_pack(id := n.id, project_id := n.project_id, scope := n.scope, subject := n.subject))::varchar as row,
  1::double as times, count(*) over ()::double as total
from named n anti join known k on k.scope = n.scope and k.project_id = n.project_id and k.id = n.subject
where n.scope in ('keyword', 'group', 'page_group') and n.subject is not null
order by n.id limit 3
