import CPostgreSQL
import Platform

/// Options of a connection, by libpq's keywords. An empty value counts as missing, as it does for libpq.
struct ConnectionOptions: Sendable {
    private(set) var values: [String: String] = [:]
    /// The keywords that this libpq knows: newer versions know more.
    private(set) var keywords: Set<String> = []

    subscript(keyword: String) -> String? { values[keyword] }

    /// The options of a connection string. Nil if libpq cannot read it: its own message would quote it, perhaps with a
    /// password.
    init?(parsing text: String) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe LibPQconninfoParse(text, &message) else {
            unsafe LibPQfreemem(message)
            return nil
        }
        unsafe self.init(taking: options)
    }

    /// libpq's values for everything that a string omits: from the service that `PGSERVICE` names, then from `PGHOST`
    /// and similar variables, then its own defaults. Nil if memory is short.
    static func defaults() -> ConnectionOptions? {
        unsafe LibPQconndefaults().map { unsafe ConnectionOptions(taking: $0) }
    }

    /// The options that a started connection uses. Nil if memory is short.
    init?(usedBy connection: OpaquePointer) {
        guard let options = unsafe LibPQconninfo(connection) else { return nil }
        unsafe self.init(taking: options)
    }

    /// From one of libpq's lists, which is freed.
    private init(taking options: UnsafeMutablePointer<PQconninfoOption>) {
        defer { unsafe LibPQconninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            let keyword = unsafe String(cString: keyword)
            keywords.insert(keyword)
            if let value = unsafe option.pointee.val, unsafe value.pointee != 0 {
                values[keyword] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
    }

    /// The options with these on top.
    func overridden(by given: [String: String]) -> ConnectionOptions {
        var result = self
        result.values.merge(given) { _, given in given }
        return result
    }

    /// Whether every reachable server is on this machine, so that nothing crosses a network. Names are not looked up:
    /// only options that can lead nowhere else count.
    var isLocal: Bool {
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        // libpq refuses lists of different lengths. Whatever another version does with them, the connection is
        // protected.
        guard hosts.isEmpty || addresses.isEmpty || hosts.count == addresses.count else { return false }
        return (0..<max(hosts.count, addresses.count)).allSatisfy { index in
            // libpq uses an address if there is one, and ignores the name in the same position.
            if index < addresses.count, !addresses[index].isEmpty {
                return IPAddress.isLoopback(String(addresses[index]))
            }
            let host = index < hosts.count ? hosts[index] : ""
            return host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost"
                || IPAddress.isLoopback(String(host))
        }
    }

    private func list(_ keyword: String) -> [Substring] {
        values[keyword]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
    }
}
