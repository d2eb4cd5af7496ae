"""What is measured of a converted model, in a process of its own."""
