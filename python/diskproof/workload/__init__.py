"""What is asked of the database; each workload yields the arguments of diskproof-load."""
