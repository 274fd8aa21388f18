"""The other end of the coordinator: asks, and reads the answers."""
