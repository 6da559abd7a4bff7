"""The profile of a disk, told: tables, pictures, a page. All from its record alone."""
