"""What a person or a program reads about a result."""
