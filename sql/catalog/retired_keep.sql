-- Files that a rebuild made current again are not retired any more.
delete from retired_files where file in (select file from fact_files)
