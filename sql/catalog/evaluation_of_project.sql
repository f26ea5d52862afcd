-- How far a project has been evaluated. $project.
select settled_through as settledThrough, evaluated_through as evaluatedThrough, state, rules,
  facts_revision as factsRevision, entities_revision as entitiesRevision
from alert_evaluations where project_id = $project
