"""Makes a device file that behaves like a measured disk."""
