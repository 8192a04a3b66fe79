"""What `shapetracker.torch` is made of: the record of a program, what operators move, verdicts, the program without copies."""
