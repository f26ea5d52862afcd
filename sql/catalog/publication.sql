-- The last publication in the catalog.
select number, id from publication
