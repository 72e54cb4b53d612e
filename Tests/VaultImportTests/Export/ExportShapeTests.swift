import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultImport
import VaultStorage

@testable import TokenVault

struct ExportShapeTests {
    private let scene: ExportScene

    init() async throws { scene = try await ExportScene() }

    private func reason(
        _ shape: ExportShape, _ change: (inout LoginDraft) throws -> Void
    ) async throws -> ExportRefusal? {
        try await scene.add("alice", "acme", change)
        let summary = try await scene.export(shape, .init(owner: .vault)).summary
        #expect(summary.rows == 1)
        return summary.leftOut.first?.reason
    }

    @Test(arguments: ExportShape.allCases)
    func onlyTheCanonicalFormHoldsAKey(_ shape: ExportShape) async throws {
        let reason = try await reason(shape) { draft in
            draft.key = KeyRecord(dpopPrivateKey: SecretBytes(copying: DPoPKey.generate().revealRawRepresentation()))
            draft.session.subject = nil
            draft.session.accessToken = nil
        }
        #expect(reason == (shape == .canonical ? nil : .keyBound))
    }

    @Test(arguments: ExportShape.allCases)
    func whatAShapeFindsRowsByMustBeKnown(_ shape: ExportShape) async throws {
        let reason = try await reason(shape) { $0.session.subject = nil }
        #expect(reason == ([.allauth, .authJS].contains(shape) ? .noSubject : nil))
    }

    @Test(arguments: ExportShape.allCases)
    func someShapesNeedAnAccessToken(_ shape: ExportShape) async throws {
        let reason = try await reason(shape) { $0.session.accessToken = nil }
        #expect(reason == ([.springSecurity, .nango].contains(shape) ? .noAccessToken : nil))
    }

    @Test(arguments: [ExportShape.allauth, .authJS, .springSecurity])
    func aValueThatIsLongerThanItsColumnIsLeftOut(_ shape: ExportShape) async throws {
        let reason = try await reason(shape) { draft in
            draft.session.subject = String(repeating: "s", count: 256)
            draft.userId = String(repeating: "u", count: 201)
        }
        #expect(reason == .tooLong)
    }

    @Test(arguments: [ExportShape.allauth, .authJS, .springSecurity])
    func aZeroByteHasNoPlaceInATable(_ shape: ExportShape) async throws {
        #expect(try await reason(shape) { $0.userId = "a\0b" } == .unrepresentable)
    }

    @Test func aBackslashHasNoPlaceInATextThatBecomesBytes() async throws {
        let reason = try await reason(.springSecurity) { $0.session.accessToken = SecretBytes(utf8: #"a\b"#) }
        #expect(reason == .unrepresentable)
    }

    @Test(arguments: ExportShape.allCases)
    func twoLoginsOfOnePlaceAreNotWrittenOverEachOther(_ shape: ExportShape) async throws {
        for number in 0..<3 {
            try await scene.add("alice") { draft in
                draft.session.subject = "same"
                draft.session.label = "\(number)"
            }
        }
        let summary = try await scene.export(shape).summary
        #expect(summary.exported == (shape == .canonical ? 3 : 1))
        #expect(summary.heldCount == summary.exported, "what has no place is not held")
        #expect(summary.reasons[.secondLogin] == (shape == .canonical ? nil : 2))
    }

    @Test func quotesEndNoText() async throws {
        try await scene.add("o'brien'); DROP TABLE accounts; --") { $0.session.subject = "a'b''c" }
        let text = try await scene.export(.authJS, .init(owner: .vault)).text
        #expect(text.contains("'o''brien''); DROP TABLE accounts; --'"))
        #expect(text.contains("\"providerAccountId\" = 'a''b''''c'"))
    }

    @Test func anExpiryThatIsOnlyAssumedIsNotWritten() async throws {
        try await scene.add("alice") { $0.session.isExpiryAssumed = true }
        #expect(try await !scene.export().text.contains("expires_at"))
    }

    @Test func anEmptyExportOfTablesIsATransactionWithNothingInIt() async throws {
        #expect(try await scene.export(.authJS).text == "BEGIN;\nCOMMIT;\n")
        #expect(try await scene.export().text.isEmpty)
    }
}

struct SealedExportTests {
    /// Made by age-keygen for this test.
    private static let recipient = "age1ed85ytxaz0h5quwfcz65yf7dsu6jzelg09nan9knfzspuupgnv9qemgxpv"

    @Test func aSealedFileHoldsNoTokenAndAppearsAtItsEnd() async throws {
        let scene = try await ExportScene()
        for number in 0..<300 { try await scene.add("\(Sample.marker)user-\(number)") }
        let directory = try PrivateDirectory()
        let path = directory.file("logins.age")
        var file = try SealedExport(.canonical, at: path, for: [Self.recipient])
        #expect(!FileManager.default.fileExists(atPath: path))
        let summary = try await LoginExport(of: scene.vault).run(into: &file)
        let bytes = try FileBytes.read(path)
        #expect(summary.exported == 300 && bytes.count > 65_536)
        #expect(String(decoding: bytes.prefix(21), as: UTF8.self) == "age-encryption.org/v1")
        #expect(!String(decoding: bytes, as: UTF8.self).contains(Sample.marker))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let error = #expect(throws: ExportError.self) {
            try SealedExport(.canonical, at: path, for: [Self.recipient])
        }
        #expect(error?.code == .fileExists)
        #expect(try FileBytes.read(path) == bytes)
    }

    @Test(arguments: ["age1nonsense", "", "ssh-ed25519 AAAA"])
    func whatIsNoRecipientIsRefused(_ text: String) throws {
        let directory = try PrivateDirectory()
        let error = #expect(throws: ExportError.self) {
            try SealedExport(.canonical, at: directory.file("file"), for: [text])
        }
        #expect(error?.code == .malformedRecipient)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }
}
