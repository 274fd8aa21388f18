"""What `launch/` and the documentation tell people to type exists."""
