"""fio, the instrument that storage people trust: started, given its work, and read."""
