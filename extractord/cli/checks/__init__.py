"""What `doctor` looks at: a table of checks, each with its verdict and what to do."""
