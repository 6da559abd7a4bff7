"""fio, the established program for measuring disks: started, given its work, and read."""
