"""What a run says, told five ways: terminal, Markdown, CSV, JSON, one page. A run folder is all it needs."""
