"""A study over many hosts: Ray starts and ends their labs, and is silent while they measure."""
