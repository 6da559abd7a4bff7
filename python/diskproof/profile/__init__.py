"""Measures a disk with fio, and compares a virtual disk with the published figures of the real one."""
