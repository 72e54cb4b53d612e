import CPostgreSQL
import VaultStorage

/// The types of the vault's columns, as PostgreSQL's type ids.
extension Table.FieldType {
    var oid: Oid {
        switch self {
        case .integer: 20
        case .bytes: 17
        case .text: 25
        }
    }
}

/// A command's parameters, in PostgreSQL's binary format.
struct Parameters: Hashable {
    struct Value: Hashable {
        let type: Table.FieldType
        let bytes: [UInt8]

        static func integer(_ value: Int64) -> Value {
            Value(type: .integer, bytes: unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) })
        }
        static func text(_ value: String) -> Value { Value(type: .text, bytes: Array(value.utf8)) }
        static func bytes(_ value: [UInt8]) -> Value { Value(type: .bytes, bytes: value) }
    }

    /// nil: NULL.
    private var values: [Value?] = []

    init(_ values: [Value?] = []) { self.values = values }

    subscript(parameter: Int32) -> Value? {
        get { values.indices.contains(Int(parameter) - 1) ? values[Int(parameter) - 1] : nil }
        set {
            guard parameter > 0 else { return }
            while values.count < Int(parameter) { values.append(nil) }
            values[Int(parameter) - 1] = newValue
        }
    }

    /// The size of all values.
    var byteCount: Int { values.reduce(0) { $0 + ($1?.bytes.count ?? 0) } }

    /// In libpq's form, for this number of parameters.
    func withPointers<R>(
        _ count: Int,
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        var storage: [CChar] = []
        var places: [Int?] = []
        var lengths: [Int32] = []
        for index in 0..<count {
            guard let value = self[Int32(index) + 1] else {
                places.append(nil)
                lengths.append(0)
                continue
            }
            places.append(storage.count)
            lengths.append(Int32(clamping: value.bytes.count))
            storage += value.bytes.map { CChar(bitPattern: $0) }
            // An empty value is not NULL, so it must have an address.
            storage.append(0)
        }
        let formats = [Int32](repeating: 1, count: count)
        return unsafe storage.withUnsafeBufferPointer { storage in
            let pointers = unsafe places.map { place in
                unsafe place.flatMap { place in unsafe storage.baseAddress.map { unsafe $0 + place } }
            }
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
