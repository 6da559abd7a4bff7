//! How early the kernel writes the bytes in its cache.

use std::fs;
use std::path::Path;

/// The kernel mistrusts a file system that a program serves: it lets it have a hundredth of the dirty
/// memory that others may have, and writes early. Root can have this mount treated as any other;
/// without privileges writes reach the disk earlier than from a file system on a block device.
pub(in crate::serve) fn as_others((major, minor): (u32, u32)) {
    let folder = Path::new("/sys/class/bdi").join(format!("{major}:{minor}"));
    for (setting, value) in [("strict_limit", "0"), ("max_ratio", "100")] {
        // Older kernels do not have the first.
        let _ = fs::write(folder.join(setting), value);
    }
}
