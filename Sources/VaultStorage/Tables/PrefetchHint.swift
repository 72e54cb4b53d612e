package import VaultCrypto

/// What a body asks first, known before it runs. An engine that needs a journey for each question asks for many bodies at
/// once, and gives them the rows when they ask. A hint, and no more: a body may ask anything else, and an engine may ignore it.
package enum PrefetchHint: Sendable {
    case nothing
    /// A query with one parameter.
    case rows(Query, Bytes16)
    /// A query of which the one parameter is the index of that user id.
    case rowsOfUser(Query, id: String)
    case each([PrefetchHint])
}

/// A query with the parameters that it is asked with.
package struct BoundQuery: Hashable, Sendable {
    package enum Parameter: Hashable, Sendable {
        case number(Int64)
        case bytes(Bytes16)
    }

    package let query: Query
    package let parameters: [Parameter]

    package init(_ query: Query, _ parameters: Parameter...) {
        self.query = query
        self.parameters = parameters
    }
}
