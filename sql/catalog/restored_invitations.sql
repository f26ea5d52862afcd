-- Forgets all invitations: some may have been used or revoked after the backup.
delete from invitations
