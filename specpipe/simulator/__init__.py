"""The minds in virtual time: the same policies as the real processes, with events instead of sockets and sleeps."""
