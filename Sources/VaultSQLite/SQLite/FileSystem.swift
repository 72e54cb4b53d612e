import CSQLite
import Glibc
import VaultCrypto
import VaultStorage

/// The file system of a vault's directory, and whether SQLite's locks and shared memory can be trusted there.
///
/// A file system that is known to be local is accepted; one that is known to be remote is refused. For any other (FUSE,
/// 9p, virtiofs) there is no way to see whether other machines use it. The caller must vouch for it, and it must then
/// prove that it behaves like a local one on this machine.
struct FileSystem: Equatable {
    enum Kind: Equatable {
        case local
        case networked(String)
        case unknown(String)
    }

    let magic: UInt32

    init(magic: UInt32) { self.magic = magic }

    init(of directory: String) {
        magic = UInt32(truncatingIfNeeded: unsafe vault_file_system_magic(directory))
    }

    /// Magic numbers from linux/magic.h, and of file systems outside the kernel's tree.
    private static let local: [UInt32: String] = [
        0xEF53: "ext4", 0x5846_5342: "XFS", 0x9123_683E: "btrfs", 0xF2F5_2010: "F2FS", 0x0102_1994: "tmpfs",
        0x794C_7630: "overlayfs", 0x2FC1_2FC1: "ZFS", 0xCA45_1A4E: "bcachefs", 0x3153_464A: "JFS",
        0x5265_4973: "ReiserFS", 0x3434: "NILFS", 0x4D44: "FAT", 0x2011_BAB0: "exFAT", 0x7366_746E: "NTFS",
        0x482B: "HFS+", 0x7371_7368: "squashfs", 0x9660: "ISO 9660", 0xE0F5_E1E2: "EROFS", 0x1501_3346: "UDF",
    ]

    private static let networked: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x7461_636F: "OCFS2",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph", 0x7375_7245: "Coda", 0x0BD0_0BD0: "Lustre",
        0x4750_4653: "GPFS", 0x0116_1970: "GFS2", 0x1983_0326: "BeeGFS", 0x013F_6B67: "PanFS", 0x564C: "NCP",
        0x2030_528E: "OrangeFS",
    ]

    private static let unknown: [UInt32: String] = [
        0x6573_5546: "FUSE or virtiofs", 0x0102_1997: "9p", 0xF15F: "eCryptfs", 0x8584_58F6: "ramfs",
        0x786F_4256: "VirtualBox shared folders", 0xBACB_ACBC: "VMware shared folders",
    ]

    var kind: Kind {
        if Self.local[magic] != nil { return .local }
        if let name = Self.networked[magic] { return .networked(name) }
        return .unknown(Self.unknown[magic] ?? "0x" + String(magic, radix: 16))
    }

    var name: String {
        switch kind {
        case .local: Self.local[magic] ?? ""
        case .networked(let name), .unknown(let name): name
        }
    }

    /// - Parameter isTrusted: whether the caller knows that no other machine uses the file system.
    func check(isTrusted: Bool, _ directory: String, isReadOnly: Bool) throws(StoreError) {
        switch kind {
        case .local: return
        case .networked(let name):
            throw PrivateFile.refused(
                "it is on a network file system (\(name)), where SQLite's locks cannot be trusted",
                "put the vault on a local disk")
        case .unknown(let name):
            guard isTrusted else {
                throw PrivateFile.refused(
                    "it is on a file system that is not known to be local (\(name))",
                    "put the vault on a local disk; if no other machine uses this file system: --trust-file-system")
            }
            if !isReadOnly { try Self.prove(directory) }
        }
    }

    // MARK: Proof

    /// Tests the properties that a vault depends on, in a file of its own that no other process sees: one open file
    /// sees another one's lock, and two mappings share their bytes.
    static func prove(_ directory: String) throws(StoreError) {
        let holder = try open(directory)
        // A second open file description of the same nameless file.
        let number = unsafe Glibc.open("/proc/self/fd/\(holder.number)", O_RDWR | O_CLOEXEC)
        guard number >= 0, let observer = Descriptor(number) else {
            throw StoreError(
                .io(errno), "the file system of \(directory) cannot be tried out: \(SystemError.text(errno))",
                hint: "mount /proc")
        }
        // Written, not just extended: touching a page without disk space first would end the process.
        let page = [UInt8](repeating: 0, count: 4096)
        let written = unsafe pwrite(holder.number, page, page.count, 0)
        guard written == page.count else {
            throw PrivateFile.creationError(written < 0 ? errno : ENOSPC, directory)
        }
        guard holder.setLock(start: 0, length: 1), observer.isLockedElsewhere(start: 0, length: 1) == true,
            !observer.setLock(start: 0, length: 1)
        else { throw refused("locks") }
        guard sharesMemory(holder.number, observer.number) else { throw refused("shared memory") }
    }

    static func refused(_ what: String) -> StoreError {
        PrivateFile.refused(
            "its file system does not have the \(what) that SQLite needs", "put the vault on a local disk")
    }

    /// A file without a name, which disappears when the process is killed. Where the file system has none, a file that
    /// is unlinked at once.
    private static func open(_ directory: String) throws(StoreError) -> Descriptor {
        let withoutName = 0o20000000 | O_DIRECTORY
        var number = unsafe Glibc.open(directory, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        if number < 0, [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) {
            let path = "\(directory)/.vault-probe-\(Base32.encode(SecureRandom.bytes16()))"
            number = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if number >= 0 { unsafe _ = unlink(path) }
        }
        guard number >= 0, let file = Descriptor(number) else {
            throw PrivateFile.creationError(errno, "a file in \(directory)")
        }
        return file
    }

    private static func sharesMemory(_ first: Int32, _ second: Int32) -> Bool {
        let failed = unsafe UnsafeMutableRawPointer(bitPattern: -1)
        let one = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, first, 0)
        guard let one = unsafe one, unsafe one != failed else { return false }
        defer { unsafe _ = munmap(one, 4096) }
        let other = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0)
        guard let other = unsafe other, unsafe other != failed else { return false }
        defer { unsafe _ = munmap(other, 4096) }
        for value: UInt8 in [0x5A, 0xA5] {
            unsafe one.storeBytes(of: value, toByteOffset: 7, as: UInt8.self)
            guard unsafe other.load(fromByteOffset: 7, as: UInt8.self) == value else { return false }
        }
        return true
    }
}
