"""Where the bytes live: places, layouts, and the proof that they went there. Only this room mounts."""
