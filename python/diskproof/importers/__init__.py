"""Other tools' output, read into records: one file a format, recognised by content."""
