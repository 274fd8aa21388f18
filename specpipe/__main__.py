"""`python -m specpipe`: the command line, also where the script is not on the path."""

from specpipe.cli.main import main

main()
