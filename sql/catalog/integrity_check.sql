-- Is the catalog's file intact, and does each index have the values of its table? One row 'ok', or rows that describe the
-- damage.
select integrity_check as result from pragma_integrity_check
