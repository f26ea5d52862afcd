-- Is this project id taken? $id.
select 1 as taken from projects where id = $id
