"""The kinds of place, one file each, behind the interface in `base`."""
