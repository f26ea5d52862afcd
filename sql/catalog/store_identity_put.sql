-- Joins the catalog with a file store. $store, $address.
update store_identity set store = $store, address = $address
