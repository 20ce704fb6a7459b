"""What holds for all tests."""

import signal

# In a shell's background SIGINT is ignored, and so it would be in every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
