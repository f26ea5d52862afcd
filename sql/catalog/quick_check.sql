-- Is the catalog's file sound? One row 'ok', or what is wrong with it.
select quick_check as result from pragma_quick_check
