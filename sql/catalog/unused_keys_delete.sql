-- Deletes stored API keys that no connection uses any more. Grants of accounts stay: their owners revoke them.
delete from grants
where kind = 'bing' and not exists (select 1 from connections c where c.grant_id = grants.id)
