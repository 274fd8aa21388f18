"""The two lines of a worker."""

from typing import Generic, NamedTuple, TypeVar

from specpipe.links.seam import Link

Data_co = TypeVar("Data_co", bound=Link, covariant=True)


class Wires(NamedTuple, Generic[Data_co]):
    """`control` leads to the coordinator and is reliable, `data` to the other worker and may lose anything."""

    control: Link
    data: Data_co

    @property
    def dropped(self) -> int:
        """How many malformed frames came over both."""
        return self.control.dropped + self.data.dropped
