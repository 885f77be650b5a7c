"""Why there is no answer, why an answer is as it is, and what would help."""
