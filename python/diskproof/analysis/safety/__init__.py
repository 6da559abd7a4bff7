"""What the cuts of a run say: what each setting kept, what it lost, and how far that can be trusted."""
