"""The nouns that every room shares; nothing here knows a socket, a tensor or a clock."""
