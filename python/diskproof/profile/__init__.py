"""Measuring a disk with fio, and holding a virtual one to what was published of the real one."""
