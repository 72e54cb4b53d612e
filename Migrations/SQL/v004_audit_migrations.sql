ALTER TABLE migration ADD COLUMN auditSequence INTEGER;
