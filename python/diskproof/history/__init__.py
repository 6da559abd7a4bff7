"""Runs that were made before, where they lie: a folder is found by its name, its label or its study."""
