"""The drafter: grows the tries of all open requests, for ever, and sends what is worth checking."""
