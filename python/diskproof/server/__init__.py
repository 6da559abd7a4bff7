"""The database under test: the MySQL family, PostgreSQL and SQLite, each with the same verbs."""
