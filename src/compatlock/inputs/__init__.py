"""What the user gives: requirements files and single requirements, read into values of the model."""
