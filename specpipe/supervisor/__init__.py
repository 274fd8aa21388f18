"""Starts the processes of an instance, watches them, restarts what may be restarted, and ends them all."""
