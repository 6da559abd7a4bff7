"""Writers of documents: they know how a form looks, and nothing of what a document is about."""
