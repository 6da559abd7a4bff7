"""What an audit says of runs, imported results, settings and articles: before any report, the same for all."""
