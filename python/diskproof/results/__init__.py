"""The run folder and what stands in it. No other room knows its format."""
