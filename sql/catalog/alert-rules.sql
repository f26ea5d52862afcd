-- Alert rules of projects.

-- name: of_project
-- The alert rules of a project, or of all. $project: may be null.
-- rows: {alert_rules_fields}
select {alert_rules_fields} from alert_rules
where cast($project as text) is null or project_id = $project order by project_id, name, id

-- name: one
-- An alert rule. $id.
-- rows: {alert_rules_fields}
select {alert_rules_fields} from alert_rules where id = $id

-- name: subject
-- What an alert rule is about, where it exists. $project; $scope: keyword, group or page_group; $id.
-- rows: id text
select id from keywords where $scope = 'keyword' and project_id = $project and id = $id
union all
select id from groups where $scope = 'group' and project_id = $project and id = $id
union all
select id from page_groups where $scope = 'page_group' and project_id = $project and id = $id
