/// Files of the kernel's (`/proc`), which hold no secret and have no length.
package enum SmallFile {
    private static let maximumByteCount = 1 << 20

    /// To its end, however long it is; nil if it cannot be read.
    package static func wholeText(_ path: String) -> String? {
        do throws(SystemError) {
            let file = try Descriptor(path)
            var bytes: [UInt8] = []
            while true {
                let piece = try file.read(atMost: 65_536)
                guard !piece.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
                bytes += piece
            }
        } catch {
            return nil
        }
    }

    /// The first MiB; nil if it cannot be opened.
    package static func text(_ path: String) -> String? {
        guard let file = try? Descriptor(path) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < maximumByteCount, let piece = try? file.read(atMost: 16_384), !piece.isEmpty {
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
