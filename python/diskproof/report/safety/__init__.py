"""How the cuts are told: the words, the pictures, and the parts of each report."""
