-- Stores how far a project has been evaluated. $project, $settledThrough, $evaluatedThrough: days; $state, $rules: JSON;
-- $factsRevision, $entitiesRevision; $at: microseconds.
insert into alert_evaluations
values ($project, $settledThrough, $evaluatedThrough, $state, $rules, $factsRevision, $entitiesRevision, $at)
on conflict (project_id) do update set settled_through = excluded.settled_through,
  evaluated_through = excluded.evaluated_through, state = excluded.state, rules = excluded.rules,
  facts_revision = excluded.facts_revision, entities_revision = excluded.entities_revision,
  evaluated_at = excluded.evaluated_at
