-- Is the catalog's file intact? One row 'ok', or rows that describe the damage.
select quick_check as result from pragma_quick_check
