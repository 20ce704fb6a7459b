"""What holds for all tests."""

import signal

from hypothesis import HealthCheck, settings

# In a shell's background SIGINT is ignored, and so it would be in every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's business: what has to be quick is measured by its own test.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
