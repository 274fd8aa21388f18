"""The verifier: owns the truth, and walks the tries of all open requests with one forward pass at a time."""
