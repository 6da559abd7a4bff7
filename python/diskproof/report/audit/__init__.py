"""An audit as text, Markdown and JSON: verdicts first, then what failed, what cannot be told, what passed."""
