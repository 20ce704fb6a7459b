"""The state directory: its identity, its daemon, what is excluded, and the memory that belongs to it."""

from extractord.edges.state.excluding import excluded_in
from extractord.edges.state.owning import Identity, owner_of
from extractord.edges.state.state import Daemon, State, daemon_of

__all__ = ["Daemon", "Identity", "State", "daemon_of", "excluded_in", "owner_of"]
