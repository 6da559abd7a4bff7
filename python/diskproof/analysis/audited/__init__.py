"""The answers of an audit about runs, imported results, settings and articles, made before any report."""
