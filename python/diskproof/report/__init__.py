"""Reports of runs, comparisons, audits and profiles: for a terminal, as Markdown, a page, CSV and JSON."""
