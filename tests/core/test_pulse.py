"""What a watchdog is told rests on whether the parts go on."""

from extractord.core.pulse import Pulse


def test_what_goes_round_in_time_is_not_stuck_and_what_does_not_is() -> None:
    pulse = Pulse(limit_s=300, run_s=540)
    pulse.beat("watch", 0)
    pulse.beat("clock", 0)
    assert pulse.stuck(300) == ()
    pulse.beat("clock", 299)
    assert pulse.stuck(301) == ("watch",)
    pulse.beat("watch", 302)
    assert pulse.stuck(303) == ()


def test_a_run_may_take_its_time_and_no_more() -> None:
    pulse = Pulse(limit_s=300, run_s=540)
    pulse.under_way({"a"}, 0)
    pulse.under_way({"a", "b"}, 500)
    assert pulse.stuck(540) == ()
    assert pulse.stuck(541) == ("a run (a)",)
    pulse.under_way({"b"}, 542)
    assert pulse.stuck(600) == ()


def test_a_run_that_may_take_longer_from_now_on_is_not_stuck() -> None:
    pulse = Pulse(limit_s=300, run_s=10)
    pulse.under_way({"a"}, 0)
    assert pulse.stuck(11) == ("a run (a)",)
    pulse.run_s = 20
    assert pulse.stuck(11) == ()
