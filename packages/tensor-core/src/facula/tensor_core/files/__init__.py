"""What save writes and load reads: archives, files from before them, and pickles that are read without being run."""
