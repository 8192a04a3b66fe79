"""What `shapetracker.onnx` is made of: layouts with named axes; what is known of a graph, chosen, written, said and checked."""
