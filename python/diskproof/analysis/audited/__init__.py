"""The answers of an audit about runs, imported results and settings, made before any report."""
