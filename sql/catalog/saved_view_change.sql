-- Changes a view. $id, $name, $address.
update saved_views set name = $name, address = $address where id = $id
