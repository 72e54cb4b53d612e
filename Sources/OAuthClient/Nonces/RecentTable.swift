/// A bounded table of recently used entries: at most twice `capacity` entries, where the newer half survives.
package struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    package init(capacity: Int) { self.capacity = capacity }

    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old[key] else { return nil }
            insert(value, for: key)
            return value
        }
    }

    package mutating func insert(_ value: Value, for key: Key) {
        if young.count >= capacity, young[key] == nil {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
