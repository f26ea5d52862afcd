-- Stores how far a project has been evaluated. $project, $settledThrough, $evaluatedThrough: days; $state, $rules: JSON;
-- $factsRevision, $entitiesRevision; $at: microseconds.
insert or replace into alert_evaluations
values ($project, $settledThrough, $evaluatedThrough, $state, $rules, $factsRevision, $entitiesRevision, $at)
