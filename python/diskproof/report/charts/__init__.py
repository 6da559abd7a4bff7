"""Charts: each is a Vega-Lite specification, drawn live on a page and as a still picture alike."""
