"""What is put into other programs' files so that they know of the memories, and taken out again."""
