extension EndpointURL {
    /// The names in braces, in order.
    package var variables: [String] { VariableText.names(of: rawValue) }

    /// The address for one log-in. Values become whole labels of the host, to the left of the part that is fixed, or
    /// text of the path and the query; nothing in a value can end the part that it is in.
    ///
    /// - Throws: ``OAuthValueError``, `malformed` for a value that is missing, or is no host name where it would be in the
    ///   host.
    package func filled(with values: [String: String]) throws(OAuthValueError) -> EndpointURL {
        guard !variables.isEmpty else { return self }
        let host = try VariableText.filled(url.host, with: values) { value throws(OAuthValueError) in
            let labels = value.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.allSatisfy(Self.isLabel) else { throw OAuthValueError(.malformed, "part of a host name") }
            return value.lowercased()
        }
        let target = try VariableText.filled(requestTarget, with: values) { value in FormCodec.encodePath(value) }
        let port = url.port.map { ":\($0)" } ?? ""
        let filled = try EndpointURL("\(scheme)://\(host)\(port)\(target)", allowsInsecureLoopback: isLoopback)
        // Another domain would be another server, whatever the reason.
        guard filled.host == host, host.hasSuffix(fixedHost) else { throw OAuthValueError(.malformed, "endpoint URL") }
        return filled
    }

    /// The host after its last variable: with a dot in front, if there is one.
    private var fixedHost: Substring {
        guard let brace = url.host.lastIndex(of: "}") else { return url.host[...] }
        return url.host[url.host.index(after: brace)...]
    }

    /// Whether a variable is all of the host, so that each log-in names its own server.
    package var hasVariableHost: Bool { url.host.hasPrefix("{") && url.host.hasSuffix("}") }

    /// Whether each variable of the host is whole labels, to the left of a fixed domain of two labels or more, or is all
    /// of the host.
    var hasAcceptableHost: Bool {
        guard url.host.contains("{") else { return !url.host.contains("}") }
        if hasVariableHost { return VariableText.parts(of: url.host)?.count == 1 }
        let labels = url.host.split(separator: ".", omittingEmptySubsequences: false)
        let fixed = labels.drop { $0.contains("{") }
        return labels.allSatisfy { label in
            guard label.contains("{") || label.contains("}") else { return Self.isLabel(label) }
            return label.hasPrefix("{") && label.hasSuffix("}") && ProfileVariable.isName(label.dropFirst().dropLast())
        } && fixed.count >= 2 && !fixed.contains { $0.contains("{") }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
