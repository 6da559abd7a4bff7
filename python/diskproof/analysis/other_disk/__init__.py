"""What a recorded load would do on another disk."""
