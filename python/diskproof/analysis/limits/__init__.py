"""What holds each cell back: where a transaction's time goes, what bounds it, and what would free it."""
