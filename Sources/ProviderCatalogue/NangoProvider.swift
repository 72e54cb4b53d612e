/// One entry of Nango's `providers.yaml`. An entry that is an alias of another one has that one's members, and its own in
/// their place.
package struct NangoProvider: Hashable, Sendable {
    package let name: String
    let members: CatalogueMap
    /// It is an alias, and so are all that it leads to.
    let isEndlessAlias: Bool

    /// More would be a circle.
    static let longestChain = 8

    /// The entries of a catalogue, in its order.
    ///
    /// - Throws: ``CatalogueError`` if the file cannot be read, or is no catalogue of Nango.
    package static func all(in bytes: [UInt8]) throws(CatalogueError) -> [NangoProvider] {
        guard let catalogue = try CatalogueText.read(bytes).map else {
            throw CatalogueError(line: nil, message: "expected entries by name")
        }
        let providers = catalogue.names.map { NangoProvider(named: $0, in: catalogue) }
        guard providers.contains(where: { $0.mode != nil || $0.isAliasOfNothing }) else {
            throw CatalogueError(line: nil, message: "no entry has an auth_mode")
        }
        return providers
    }

    private init(named name: String, in catalogue: CatalogueMap) {
        self.name = name
        var chain = [catalogue[name]?.map ?? CatalogueMap()]
        while let alias = chain.last?["alias"]?.text, chain.count <= Self.longestChain {
            guard let next = catalogue[alias]?.map else { break }
            chain.append(next)
        }
        let isComplete = chain.last?["alias"] == nil
        isEndlessAlias = chain.count > Self.longestChain && !isComplete
        var members = CatalogueMap()
        for part in chain.reversed() {
            for name in part.names where name != "alias" || !isComplete { members[name] = part[name] }
        }
        self.members = members
    }

    subscript(name: String) -> CatalogueValue? { members[name] }
    func text(_ name: String) -> String? { members[name]?.text }
    func isTrue(_ name: String) -> Bool { members[name]?.isTrue ?? false }
    func texts(_ name: String) -> [String] { (members[name]?.list ?? []).compactMap(\.text) }

    /// How users are authenticated, such as `OAUTH2`.
    package var mode: String? { text("auth_mode") }
    package var title: String { text("display_name") ?? name }

    /// An alias of nothing, or without end.
    var isAliasOfNothing: Bool { members["alias"] != nil }

    /// Parameters by name, without empty ones.
    func parameters(_ name: String) -> [(name: String, value: String)]? {
        guard let map = members[name]?.map else { return nil }
        return map.names.compactMap { name in
            map[name]?.text.flatMap { $0.isEmpty ? nil : (name, $0) }
        }
    }

    /// The address of an endpoint; `token_url` may have one for each mode.
    func address(_ name: String) -> String? { text(name) ?? members[name]?.map?["OAUTH2"]?.text }

    /// What the entry says of a value that each connection brings.
    func setting(_ name: String) -> CatalogueMap? { members["connection_config"]?.map?[name]?.map }

    /// The header with the access token, and what is before the token.
    var tokenHeader: (name: String, scheme: String)? {
        guard let headers = members["proxy"]?.map?["headers"]?.map else { return nil }
        let token = "${accessToken}"
        for name in headers.names {
            guard let value = headers[name]?.text, value.hasSuffix(token) else { continue }
            return (name, String(value.dropLast(token.count)).trimmed)
        }
        return nil
    }
}
