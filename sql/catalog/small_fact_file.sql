-- The smallest of some current fact files.
select file, bytes, sha256 from (select file, bytes, sha256 from fact_files limit 50) as few order by bytes limit 1
