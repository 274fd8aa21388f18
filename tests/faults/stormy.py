"""Runs a role of an instance as `python -m specpipe` does, but with a drafter whose data link is in a storm."""

import sys
from functools import partial

from specpipe.cli.main import main
from specpipe.drafter import main as drafter
from specpipe.links.weather import StormyDialer, Weather

WEATHER = Weather(drop=0.5, repeat=0.5, reorder=0.5, late=0.05, seed=7)

if __name__ == "__main__":
    if sys.argv[1] == "drafter":
        drafter.run = partial(drafter.run, around=lambda link: StormyDialer(link, WEATHER))
    main()
