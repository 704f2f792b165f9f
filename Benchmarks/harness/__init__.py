"""What all rows of the benchmark share: programs, PostgreSQL, data, load, and the table of results."""
