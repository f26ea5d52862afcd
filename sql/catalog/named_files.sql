-- All files that the catalog names, with size and hash: those of facts, of lists, and replaced ones that may still be read.
-- isNeeded: 0 for those that can do without.
select file, bytes, sha256, 1 as isNeeded from fact_files
union all select file, bytes, sha256, 0 as isNeeded from lists
union all select file, bytes, sha256, 0 as isNeeded from retired_files where sha256 <> ''
