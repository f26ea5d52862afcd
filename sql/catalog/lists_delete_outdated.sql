-- Drops lists made from facts of an older revision, or from a property that the project no longer has.
delete from lists where file in (
  select l.file from lists l join projects p on p.id = l.project_id
  where l.source_key <> 'facts ' || p.facts_revision and l.source_key <> 'property ' || p.property
)
