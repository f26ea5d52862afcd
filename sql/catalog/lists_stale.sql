-- Lists made from what is no more: facts of an older revision, or a property that the project had before.
select l.file from lists l join projects p on p.id = l.project_id
where l.basis <> 'facts ' || p.facts_revision and l.basis <> 'property ' || p.property
