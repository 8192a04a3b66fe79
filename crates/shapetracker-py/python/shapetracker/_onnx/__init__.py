"""What `shapetracker.onnx` is made of: layouts with named axes, what is known of a graph, what is chosen, written, said and checked."""
