-- Sets the last publication, for a rebuilt catalog. $number, $id.
update publication set number = $number, id = $id
