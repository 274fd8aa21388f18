"""Loading models and running them: the only room, with sampling and the workers, that knows torch."""
