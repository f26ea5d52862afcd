-- Raises the version of the catalog, if this transaction has changed anything. Its last statement.
update catalog_version set value = value + 1 where pg_current_xact_id_if_assigned() is not null
