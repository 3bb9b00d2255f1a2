"""The public functions that are more than a row: compositions over the rows, by subject."""
