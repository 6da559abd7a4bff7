"""Published figures joined to the cells that repeat them: figures, ratios, marks, and why they differ."""
