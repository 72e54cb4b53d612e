import Platform

/// The rule for who may be able to read a file that holds a secret.
///
/// A file of this user must be readable by this user only. A file of root's may be readable by others where root
/// allowed that: no one has write permission and only a group can read it, as in a Kubernetes volume with `fsGroup`, or
/// it is on an in-memory file system that is mounted read-only for this process, as Docker and Kubernetes mount
/// secrets.
struct SecretFileRule {
    let mode: UInt32
    let owner: UInt32
    /// Nil if it is unknown.
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
