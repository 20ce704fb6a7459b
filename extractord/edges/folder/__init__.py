"""Memory roots, reached through their descriptors and never through a link."""

from extractord.edges.folder.root import Folder
from extractord.edges.folder.view import FolderView

__all__ = ["Folder", "FolderView"]
