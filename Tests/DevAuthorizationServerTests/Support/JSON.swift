import Foundation

enum JSON {
    static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
    }

    static func array(_ bytes: [UInt8]) throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]] ?? []
    }

    static func encode(_ object: [String: Any]) throws -> Data {
        try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
    }
}
