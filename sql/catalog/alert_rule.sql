-- An alert rule. $id.
select id, project_id as project, name, rule, severity, enabled from alert_rules where id = $id
