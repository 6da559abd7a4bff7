"""What an audit says of runs, imported results, settings and articles: made once, before any report."""
