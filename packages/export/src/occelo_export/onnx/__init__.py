"""ONNX: `exporting` writes a model, `writer` has what translations call, and the other modules translate kinds of ops."""
