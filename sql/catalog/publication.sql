-- The last publication that the catalog holds.
select number, id from publication
