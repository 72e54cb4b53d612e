import CProcess

/// The type of the file system that a directory is on, by its magic number (linux/magic.h).
package struct FileSystemType: Equatable, Sendable {
    /// Whether other machines use it.
    package enum Reach: Equatable, Sendable {
        case local
        case networked
        /// That cannot be told from the type.
        case unknown
    }

    private let magic: UInt32

    package init(magic: UInt32) { self.magic = magic }

    package init(of directory: String) {
        magic = UInt32(truncatingIfNeeded: unsafe process_file_system_magic(directory))
    }

    /// The magic numbers of linux/magic.h, and of file systems that are not in the kernel's tree.
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

    package var reach: Reach {
        if Self.local[magic] != nil { return .local }
        return Self.networked[magic] != nil ? .networked : .unknown
    }

    package var name: String {
        Self.local[magic] ?? Self.networked[magic] ?? Self.unknown[magic] ?? "0x" + String(magic, radix: 16)
    }
}
