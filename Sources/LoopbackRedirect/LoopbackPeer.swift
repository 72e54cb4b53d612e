import NIOCore
import Platform

/// Finds which user of this machine is at the other end of a loopback connection. On Linux the kernel lists its sockets
/// with their users. On other systems this is unknown, and every user is admitted.
enum LoopbackPeer {
    private static let tables = ["/proc/net/tcp", "/proc/net/tcp6"]

    /// - Parameters:
    ///   - client: the other end of the connection.
    ///   - own: this end of it.
    static func isOne(of users: Set<UInt32>, _ client: SocketAddress, to own: SocketAddress) -> Bool {
        let (from, to) = (names(of: client), names(of: own))
        var isKnown = false
        for table in tables {
            guard let rows = SmallFile.wholeText(table) else { continue }
            isKnown = true
            for row in rows.split(separator: "\n").dropFirst() {
                let fields = row.split(separator: " ")
                guard fields.count > 9, from.contains(fields[1]), to.contains(fields[2]) else { continue }
                // A socket without an inode was closed by its process, and is listed as root's.
                return fields[9] != "0" && UInt32(fields[7]).map(users.contains) == true
            }
        }
        return !isKnown
    }

    /// The kernel's notation of an address: each 32 bits as a number of this machine, and the port.
    private static func names(of address: SocketAddress) -> Set<Substring> {
        guard let ip = address.ipAddress, let port = address.port else { return [] }
        let end = ":" + hexadecimal(port, digits: 4)
        if ip == "::1" { return ["00000000000000000000000001000000\(end)"] }
        let octets = ip.split(separator: ".").compactMap { Int($0) }
        guard octets.count == 4 else { return [] }
        let word = octets.reversed().map { hexadecimal($0, digits: 2) }.joined()
        // A socket for both families has the address in another form.
        return ["\(word)\(end)", "0000000000000000FFFF0000\(word)\(end)"]
    }

    private static func hexadecimal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
