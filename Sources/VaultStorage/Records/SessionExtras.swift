/// What only some sessions have. It lies in one place that all copies of a session share: a login is copied several times
/// on its way through a transaction, and each reference that a copy holds is counted then.
struct SessionExtras: Equatable, Sendable {
    struct Values: Equatable, Sendable {
        var label: String?
        var metadata: [String: String] = [:]
        var grantedScope: String?
        var subject: String?
        var resourceTokens: [TokenRecord] = []
        var attributes: [String: String] = [:]
        var origin: ImportOrigin?
        var lastRefusal: RefusalRecord?

        fileprivate var isEmpty: Bool {
            label == nil && metadata.isEmpty && grantedScope == nil && subject == nil && resourceTokens.isEmpty
                && attributes.isEmpty && origin == nil && lastRefusal == nil
        }
    }

    final class Place: Sendable {
        let values: Values

        fileprivate init(_ values: Values) { self.values = values }
    }

    /// Nil: there is nothing.
    private(set) var place: Place?

    init() {}

    init(_ values: Values) { place = values.isEmpty ? nil : Place(values) }

    mutating func change(_ body: (inout Values) -> Void) {
        var values = place?.values ?? Values()
        body(&values)
        self = SessionExtras(values)
    }

    static func == (own: SessionExtras, other: SessionExtras) -> Bool {
        own.place === other.place || own.place?.values == other.place?.values
    }
}
