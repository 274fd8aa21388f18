"""What is decided: pure state machines, without I/O, sockets, torch or a clock of their own.

Each is told what happened and when, and says what to do. They run alike in the real processes, in
virtual time, and under property tests.
"""
