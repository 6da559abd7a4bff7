"""`diskproof disk …`: virtual disks, and what any disk does. One file a verb."""

PURPOSE = "Virtual disks that behave like published ones, and profiles of any disk."

VERBS = {
    "list": "List the virtual disks that can be attached and those that are attached.",
    "show": "Show a virtual disk's parameters and the source of each.",
    "attach": "Attach a virtual disk as a block device, by default with a file system on it.",
    "detach": "Detach a virtual disk and delete its contents.",
    "profile": "Measure a directory, a block device or an attached virtual disk with fio.",
    "clone": "Measure a disk, and write a device file that behaves like it.",
}

EXAMPLES = {
    "show": "diskproof disk show intel-x25-e",
    "attach": "diskproof disk attach fujitsu-mbc2073rc",
    "detach": "diskproof disk detach fujitsu-mbc2073rc",
    "profile": "diskproof disk profile /mnt/ssd --quick",
    "clone": "diskproof disk clone /mnt/ssd -o mine.toml",
}
