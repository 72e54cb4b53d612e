import Glibc

/// An address as it is written out, so that neither a name such as `127.example.org` nor another spelling counts.
package enum IPAddress {
    /// Whether it is this machine's own, which nothing reaches from outside.
    package static func isLoopback(_ text: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        if unsafe inet_pton(AF_INET, text, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return false }
        return unsafe withUnsafeBytes(of: six) { unsafe $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}
