-- Restores a finding. $id.
delete from dismissed_findings where id = $id
