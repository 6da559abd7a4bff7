"""The kinds of device that a clone may be: first guesses, bounds, and how a file is made of them."""
