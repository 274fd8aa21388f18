"""What carries the messages: one protocol, several carriers. Nothing here knows what a message means."""
