import Platform

/// Who may be able to read a file that holds a secret.
///
/// A file of ours is ours alone. A file of root's may be read by others where root meant that: a mode that no one can
/// write with and only a group can read, as a Kubernetes volume with `fsGroup` has, or a file system in memory that is
/// mounted read-only for this process, as Docker and Kubernetes mount secrets.
struct SecretFileRule {
    let mode: UInt32
    let owner: UInt32
    /// Nil if that cannot be known.
    let mount: MountView?

    func allows(user: UInt32) -> Bool {
        guard owner == user || owner == 0 else { return false }
        if mode & 0o077 == 0 { return true }
        guard owner == 0 else { return false }
        let isForOneGroup = mode & 0o777 & ~0o550 == 0
        let isMountedForUs = mode & 0o022 == 0 && mount?.isMemory == true && mount?.isReadOnly == true
        return isForOneGroup || isMountedForUs
    }
}
