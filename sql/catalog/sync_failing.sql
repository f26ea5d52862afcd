-- Stores whether the sync of a project fails; changes nothing where that is known. $project; $failing: 0 or 1.
update sync_projects set failing = $failing where project_id = $project and failing <> $failing
