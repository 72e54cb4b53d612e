/// A POSIX lock that some process of this machine holds, from the kernel's list (`/proc/locks`).
package struct KernelLock: Sendable {
    package let process: Int32
    /// As in ``FileIdentity/deviceName``.
    package let device: String
    package let inode: UInt64
    private let first: Int64
    private let last: Int64

    /// `1: POSIX  ADVISORY  READ 1234 08:01:5678 123 123`; the end may be `EOF`. Those that wait have an arrow.
    private init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count >= 8, words[1] == "POSIX", let process = Int32(words[4]), process > 0 else { return nil }
        let place = words[5].split(separator: ":")
        guard place.count == 3, let inode = UInt64(place[2]), let first = Int64(words[6]) else { return nil }
        self.process = process
        device = "\(place[0]):\(place[1])"
        self.inode = inode
        self.first = first
        last = Int64(words[7]) ?? .max
    }

    /// All that are held now; empty if the system does not say.
    package static var all: [KernelLock] {
        (SmallFile.text("/proc/locks") ?? "").split(separator: "\n").compactMap(KernelLock.init)
    }

    package func overlaps(_ range: ClosedRange<Int64>) -> Bool { first <= range.upperBound && last >= range.lowerBound }
}

extension FileIdentity {
    /// The device as the kernel's lists name it: `08:01`.
    package var deviceName: String {
        // glibc's macros major() and minor() cannot be imported.
        let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
        let minor = device & 0xff | device >> 12 & 0xffff_ff00
        func hex(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return text.count < 2 ? "0" + text : text
        }
        return "\(hex(major)):\(hex(minor))"
    }
}
