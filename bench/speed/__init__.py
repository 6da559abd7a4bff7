"""The speed goals of diskproof-load, side by side with the tools that its users know."""
