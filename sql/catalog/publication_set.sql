-- What a rebuilt catalog holds. $number, $id.
update publication set number = $number, id = $id
