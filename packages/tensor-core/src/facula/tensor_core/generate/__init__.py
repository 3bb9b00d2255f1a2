"""What the build writes from the table: the flat functions and the types of everything public. Used at build time only."""
