-- The identity of the catalog and of its file store; store and address are null before both are joined.
select catalog, store, address from store_identity
