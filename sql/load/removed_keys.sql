-- Keys of the rows that a replacing load removes.
select {key} from removed_{table}
