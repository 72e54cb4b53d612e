/// Data that only some sessions have. All copies of a session share one object for it: a transaction copies a login
/// several times, and each copy counts every reference that it holds.
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
        var resource: String?
        var requestedScope: String?
        var repeatedConsents: Int64 = 0
        var hasMoved = false

        fileprivate var isEmpty: Bool {
            label == nil && metadata.isEmpty && grantedScope == nil && subject == nil && resourceTokens.isEmpty
                && attributes.isEmpty && origin == nil && lastRefusal == nil && resource == nil
                && requestedScope == nil && repeatedConsents == 0 && !hasMoved
        }
    }

    final class Place: Sendable {
        let values: Values

        fileprivate init(_ values: Values) { self.values = values }
    }

    /// Nil if there is no such data.
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
