import Foundation
import Logging
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting

/// Everything that a client shows of what servers did to it: errors, values, log lines, what listeners are told.
final class HostileFindings: TokenEndpointResponseListener {
    private let texts = Mutex<[String]>([])

    var count: Int { texts.withLock { $0.count } }

    /// Takes every line of every level.
    var logger: Logger { LogSink { self.keep([$0]) }.logger }

    func show(_ value: Any) {
        var dumped = ""
        dump(value, to: &dumped)
        keep(["\(value)", String(reflecting: value), dumped])
    }

    /// Runs something that may fail, and looks at its error or its result.
    func watch<Result>(_ body: () async throws -> Result) async -> Result? {
        do {
            let result = try await body()
            show(result)
            return result
        } catch {
            show(error)
            return nil
        }
    }

    func tokenEndpointResponded(_ response: TokenEndpointResponse) { show(response) }

    private func keep(_ more: [String]) { texts.withLock { $0 += more } }

    /// No token, no control character, no line that a server wrote: neither shown nor in a file of the vault.
    func expectNothingOf(servers name: String, in vault: TemporaryVault) throws {
        for text in texts.withLock({ $0 }) {
            #expect(!text.contains("CANARY"), "\(name): a token is shown in \(text)")
            #expect(!text.contains("level=error") && !text.contains("%n"), "\(name): \(text)")
            let isClean = text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" }
            #expect(isClean && !text.contains("\u{202E}"), "\(name): a control character is shown")
        }
        for file in try FileManager.default.contentsOfDirectory(atPath: vault.directory) {
            let data = FileManager.default.contents(atPath: vault.directory + "/" + file) ?? Data()
            #expect(data.range(of: Data("CANARY".utf8)) == nil, "\(name): \(file) holds a token in the clear")
        }
    }
}
