-- The last statement of a copy, for databases that have to be told what the largest id of the audit trail is.
select 1 as done
