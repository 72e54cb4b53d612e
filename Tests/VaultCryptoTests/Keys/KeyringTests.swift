import Testing
import VaultCrypto

struct KeyringTests {
    @Test func aKeyringComesBackWhole() throws {
        let vaultKey = try SealingKey.generate()
        let keyring = try Keyring.generate().addingPrimaryRoot(madeAt: 1_800_000_000_000).addingPrimaryRoot(
            madeAt: 1_800_000_000_000)
        let cell = try keyring.seal(under: vaultKey, associatedData: Cells.place())
        let opened = try Keyring.open(cell, under: vaultKey, associatedData: Cells.place())
        #expect(opened.primaryRoot.id == keyring.primaryRoot.id)
        #expect(opened.retiredRoots.map(\.id) == keyring.retiredRoots.map(\.id))
        #expect(opened.blindIndex(ofUserId: "alice") == keyring.blindIndex(ofUserId: "alice"))
        #expect(
            opened.auditMAC(previous: .genesis, row: Cells.place())
                == keyring.auditMAC(previous: .genesis, row: Cells.place()))
        #expect(throws: VaultCryptoError.self) {
            try Keyring.open(cell, under: .generate(), associatedData: Cells.place())
        }
        #expect(throws: VaultCryptoError.self) {
            try Keyring.open(cell, under: vaultKey, associatedData: Cells.place(2))
        }
    }

    @Test func aKeyringWithoutOneOfItsKeysIsRefused() throws {
        let vaultKey = try SealingKey.generate()
        for missing in [1, 3, 4] as [UInt8] {
            var key = RecordWriter()
            key.append(1, SecureRandom.bytes16())
            key.append(2, try SealingKey.generate())
            var record = RecordWriter()
            for tag in [1, 3, 4] as [UInt8] where tag != missing { record.append(tag, record: key) }
            let cell = try SealedCell.seal(record, kind: .keyring, key: vaultKey, associatedData: Cells.place())
            #expect {
                try Keyring.open(cell, under: vaultKey, associatedData: Cells.place())
            } throws: {
                ($0 as? VaultCryptoError)?.code == .malformedRecord
            }
        }
    }

    @Test func aRetiredRootStillOpensUntilItIsDropped() throws {
        let old = try Keyring.generate()
        let cell = try Cells.seal([1], kind: .user, key: old.primaryRoot, at: Cells.place())
        let new = try old.addingPrimaryRoot(madeAt: 1_800_000_000_000)
        #expect(new.primaryRoot.id != old.primaryRoot.id)
        let named = try unsafe cell.withUnsafeBytes { try unsafe SealedCell.keyID(of: $0, kind: .user) }
        let root = try #require(new.root(for: named))
        #expect(try Cells.open(cell, kind: .user, key: root, at: Cells.place()) == [1])
        #expect(new.droppingRoot(named).root(for: named) == nil)
        #expect(new.droppingRoot(new.primaryRoot.id).root(for: new.primaryRoot.id) != nil)
        #expect(new.root(for: .random()) == nil)
    }

    @Test func aFormerIndexKeyStillFindsUntilItIsDropped() throws {
        let vaultKey = try SealingKey.generate()
        let old = try Keyring.generate()
        let new = try old.replacingIndexKey(at: 1_800_000_000_000)
        let cell = try new.seal(under: vaultKey, associatedData: Cells.place())
        let opened = try Keyring.open(cell, under: vaultKey, associatedData: Cells.place())
        #expect(opened.indexMadeAt == 1_800_000_000_000)
        for keyring in [new, opened, try opened.addingPrimaryRoot(madeAt: 1)] {
            let indexes = keyring.blindIndexes(ofUserId: "alice")
            #expect(indexes.former == old.blindIndex(ofUserId: "alice"))
            #expect(indexes.current == keyring.blindIndex(ofUserId: "alice") && indexes.current != indexes.former)
            #expect(indexes.all.allSatisfy { indexes.contains($0) } && indexes.all.count == 2)
            #expect(keyring.continues(old))
        }
        let after = opened.droppingFormerIndexKey
        #expect(after.blindIndexes(ofUserId: "alice").all == [new.blindIndex(ofUserId: "alice")])
        #expect(after.indexMadeAt == opened.indexMadeAt && after.auditKey.isSame(as: old.auditKey))
    }

    @Test func eachPartOfTheTrailHasItsKey() throws {
        let vaultKey = try SealingKey.generate()
        let first = try Keyring.generate()
        let second = first.replacingAuditKey(by: try .generate(), after: 10, at: 1_800_000_000_000)
        let third = second.replacingAuditKey(by: try .generate(), after: 11, at: 1_800_000_000_001)
        let cell = try third.seal(under: vaultKey, associatedData: Cells.place())
        let opened = try Keyring.open(cell, under: vaultKey, associatedData: Cells.place())
        #expect(opened.auditMadeAt == 1_800_000_000_001 && opened.formerAuditKeys.map(\.through) == [10, 11])
        for keyring in [third, opened, try opened.addingPrimaryRoot(madeAt: 1)] {
            #expect([0, 1, 10].allSatisfy { keyring.auditKey(ofRow: $0).isSame(as: first.auditKey) })
            #expect(keyring.auditKey(ofRow: 11).isSame(as: second.auditKey))
            #expect([12, 13, .max].allSatisfy { keyring.auditKey(ofRow: $0).isSame(as: third.auditKey) })
            #expect(keyring.continues(first) && keyring.continues(second))
        }
        let after = opened.droppingAuditKey(first.auditKey.id)
        #expect(after.formerAuditKeys.map(\.through) == [11] && after.auditKey.isSame(as: third.auditKey))
        // What does not ascend says nothing of which rows are whose.
        let odd = third.replacingAuditKey(by: try .generate(), after: 11, at: 1)
        let oddCell = try odd.seal(under: vaultKey, associatedData: Cells.place())
        #expect(throws: VaultCryptoError.self) {
            try Keyring.open(oddCell, under: vaultKey, associatedData: Cells.place())
        }
    }

    @Test func blindIndexesDependOnKeyValueAndDomain() throws {
        let keyring = try Keyring.generate()
        let other = try Keyring.generate()
        func index(_ keyring: Keyring, _ value: String, _ domain: Keyring.IndexDomain) -> BlindIndex {
            unsafe Array(value.utf8).withUnsafeBytes { unsafe keyring.blindIndex(of: $0, domain: domain) }
        }
        let indexes = [
            index(keyring, "alice", .userId), index(keyring, "alice", .authorizationState),
            index(keyring, "Alice", .userId), index(keyring, "", .userId), index(other, "alice", .userId),
            index(keyring, String(repeating: "a", count: 1 << 20), .userId),
        ]
        #expect(Set(indexes).count == indexes.count)
        #expect(index(keyring, "alice", .userId) == keyring.blindIndex(ofUserId: "alice"))
    }

    @Test func eachLinkOfTheAuditChainDependsOnTheOneBefore() throws {
        let keyring = try Keyring.generate()
        let first = keyring.auditMAC(previous: .genesis, row: Cells.place(1))
        let second = keyring.auditMAC(previous: first, row: Cells.place(1))
        #expect(
            Set([AuditMAC.genesis, first, second, keyring.auditMAC(previous: first, row: Cells.place(2))]).count == 4)
        #expect(unsafe first.array.withUnsafeBytes { unsafe AuditMAC($0) } == first)
        #expect(unsafe [UInt8](repeating: 0, count: 31).withUnsafeBytes { unsafe AuditMAC($0) } == nil)
    }
}
