"""Memories for coding agents, written down by a confined sub-agent."""

__version__ = "0.1.0"
