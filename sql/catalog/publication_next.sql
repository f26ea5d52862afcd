-- Begins the next publication. $id.
update publication set number = number + 1, id = $id returning number, id
