-- Is there a feed with this id, revoked or not? $id.
select 1 as found from feeds where id = $id
