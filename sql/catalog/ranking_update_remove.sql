-- Removes a ranking update that the feed has taken back. $id.
delete from ranking_updates where id = $id
