"""What `shapetracker.torch` is made of: the record of a program, what its operators move, verdicts, and the program without copies."""
