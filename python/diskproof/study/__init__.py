"""The study file: one declaration of every option, from which errors, help and the JSON Schema come."""
