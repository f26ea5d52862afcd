-- Makes a restored catalog another one than its original, without a file store. $catalog.
update store_identity set catalog = $catalog, store = null, address = null
