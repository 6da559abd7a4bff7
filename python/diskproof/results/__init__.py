"""The run folder and its records. No other room knows its format."""
