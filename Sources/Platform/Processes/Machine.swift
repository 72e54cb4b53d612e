import Glibc

/// The machine that this process runs on.
package enum Machine {
    /// Nil if it has none that can be had.
    package static var hostName: String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { buffer in
            // Not terminated if it was cut.
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe gethostname(start, buffer.count - 1) == 0 else { return nil }
            return unsafe String(cString: start)
        }
    }

    /// What no other start of a kernel has; empty if the kernel does not say.
    package static var startMark: [UInt8] {
        let file = try? Descriptor("/proc/sys/kernel/random/boot_id")
        return (try? file?.read(atMost: 128, at: 0)) ?? []
    }

    /// Such as `Linux x86_64`; nil if the system does not say.
    package static var platform: String? {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return nil }
        let system = unsafe withUnsafeBytes(of: &name.sysname) { unsafe text($0) }
        let machine = unsafe withUnsafeBytes(of: &name.machine) { unsafe text($0) }
        return "\(system) \(machine)"
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
