-- Current fact files of publications after a revision. $revision.
select file from fact_files where revision > $revision
