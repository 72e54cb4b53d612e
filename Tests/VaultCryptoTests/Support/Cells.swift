@testable import VaultCrypto

/// Sealing and opening of arrays, for tests.
enum Cells {
    static func key(_ byte: UInt8 = 7, id: UInt8 = 1) throws -> SealingKey {
        try unsafe [UInt8](repeating: byte, count: 32).withUnsafeBytes {
            try unsafe SealingKey(id: KeyID(bytes16(id)), copying: $0)
        }
    }

    static func bytes16(_ byte: UInt8) -> Bytes16 {
        Bytes16([UInt8](repeating: byte, count: 16)) ?? .zero
    }

    static func place(_ row: UInt8 = 1) -> AssociatedData {
        var data = AssociatedData(vault: bytes16(9), table: "login")
        data.append(bytes16(row))
        return data
    }

    static func seal(
        _ plaintext: [UInt8], kind: CellKind = .session, key: SealingKey, at place: borrowing AssociatedData
    ) throws -> [UInt8] {
        try unsafe plaintext.withBytes { bytes throws(VaultCryptoError) in
            try unsafe SealedCell.seal(bytes, kind: kind, key: key, associatedData: place)
        }
    }

    static func sealDeterministically(
        _ plaintext: [UInt8], kind: CellKind, key: SealingKey, at place: borrowing AssociatedData, nonce: [UInt8]
    ) throws -> [UInt8] {
        try unsafe plaintext.withBytes { bytes throws(VaultCryptoError) in
            try unsafe SealedCell.seal(
                bytes, kind: kind, key: UnsafeRawPointer(key.pointer), keyID: key.id, associatedData: place,
                nonce: { target in unsafe target.copyMemory(from: nonce, byteCount: nonce.count) }
            )
        }
    }

    static func open(
        _ cell: [UInt8], kind: CellKind = .session, key: SealingKey, at place: borrowing AssociatedData
    ) throws(VaultCryptoError) -> [UInt8] {
        let scratch = try CellScratch(byteCount: 4096)
        return try unsafe cell.withBytes { bytes throws(VaultCryptoError) in
            let opened = try unsafe SealedCell.Opened(
                bytes, kind: kind, key: key, associatedData: place, scratch: scratch)
            defer { opened.wipe(scratch) }
            return unsafe [UInt8](opened.plaintext)
        }
    }

    /// The code with which opening fails; `nil` if it does not.
    static func defect(
        of cell: [UInt8], kind: CellKind = .session, key: SealingKey, at place: borrowing AssociatedData
    ) -> VaultCryptoError.Code? {
        do throws(VaultCryptoError) {
            _ = try open(cell, kind: kind, key: key, at: place)
            return nil
        } catch {
            return error.code
        }
    }
}
