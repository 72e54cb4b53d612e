package import VaultCrypto

/// The first queries of a body, known before it runs. An engine that needs a round trip for each query fetches the rows
/// of many bodies in one, and returns them when the bodies ask. This is only a hint: a body may run any other query,
/// and an engine may ignore it.
package enum PrefetchHint: Sendable {
    case nothing
    /// A query with one parameter, or two.
    case rows(Query, Bytes16, Bytes16? = nil)
    /// A query whose one parameter is the index of that user id.
    case rowsOfUser(Query, id: String)
    case each([PrefetchHint])
}

/// A query with its parameters.
package struct BoundQuery: Hashable, Sendable {
    package enum Parameter: Hashable, Sendable {
        case number(Int64)
        case bytes(Bytes16)
    }

    package let query: Query
    package let parameters: [Parameter]

    package init(_ query: Query, _ parameters: Parameter...) {
        self.init(query, parameters)
    }

    package init(_ query: Query, _ parameters: [Parameter]) {
        self.query = query
        self.parameters = parameters
    }
}
