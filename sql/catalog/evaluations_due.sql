-- The projects with facts whose facts or entities have changed since they were evaluated.
select p.id from projects p left join alert_evaluations e on e.project_id = p.id
where p.setup_finished = 1 and p.synced_through is not null
  and exists (select 1 from fact_files f where f.project_id = p.id)
  and (e.project_id is null or e.facts_revision <> p.facts_revision or e.entities_revision <> p.entities_revision)
order by p.id
