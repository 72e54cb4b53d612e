import Foundation

/// Bodies that a program must make.
enum HostileBytes {
    /// 200 MiB of zeros, in about 200 KiB.
    static let gzipBomb = gzip("head -c 209715200 /dev/zero | gzip -9")
    static let gzippedGoodReply = gzip("printf %s '\(HostileReply.good())' | gzip")

    private static func gzip(_ command: String) -> [UInt8] {
        guard let pipe = unsafe popen(command, "r") else { return [] }
        defer { unsafe pclose(pipe) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
