import Foundation
import OAuthClient
import Testing

/// Programs and alerts hold on to the names of errors: they are stable, unique, and all of them are documented.
struct ErrorCodeTests {
    @Test func aNameIsTheCodeWhateverItSays() {
        #expect(HTTPTransportError.Code("timeout", "too slow") == .timeout)
        #expect(OAuthFailure.Code("inDoubt", "perhaps") == .inDoubt)
        #expect(OAuthValueError.Code("empty", "has nothing in it") == .empty)
        #expect(DiscoveryError.Code("notFound", "no document") == .notFound)
        #expect(ProfileError.Code("missing", "is not there") == .missing)
        #expect(AuthorizationCallbackError.Code("refused", "no") == .refused)
        #expect(HTTPTransportError.Code("timeOut", HTTPTransportError.Code.timeout.words) != .timeout)
        #expect(Set([OAuthValueError.Code("empty", "one"), .init("empty", "two")]).count == 1)
    }

    @Test func aCodePrintsItsNameAndAnErrorItsSentence() {
        let error = HTTPTransportError(.notSent, .timeout)
        #expect(error.code.name == "timeout" && "\(error.code)" == "timeout")
        #expect("\(error)" == "the time limit was exceeded, nothing was sent")
        #expect("\(OAuthFailure(.tryLater))" == "the server cannot answer now")
        #expect("\(DiscoveryError(.malformed, member: "issuer"))" == "the metadata document cannot be read: issuer")
        #expect("\(ProfileError(.missing, file: "a.json", field: "name"))" == "a.json: name is a missing field")
    }

    @Test(arguments: [
        ("HTTP/HTTPTransportError", 14), ("TokenManager/OAuthFailure", 5), ("Errors/OAuthValueError", 8),
        ("Discovery/DiscoveryError", 8), ("Profiles/ProfileError", 9), ("Authorization/AuthorizationCallbackError", 8),
    ])
    func namesAreTheMembersUniqueAndDocumented(_ file: String, _ count: Int) throws {
        let source = try text("\(file).swift")
        let codes = source.matches(of: /static let (\w+) = Code\(\s*"(\w+)"/)
        #expect(codes.count == count)
        #expect(Set(codes.map(\.2)).count == codes.count)
        let pages = try text("OAuthClient.docc/ErrorNames.md").components(separatedBy: "\n### ")
        let page = try #require(pages.first { $0.hasPrefix(file.components(separatedBy: "/")[1] + "\n") })
        for code in codes {
            #expect(code.1 == code.2)
            #expect(page.contains("\n| `\(code.2)` |"), "\(code.2)")
        }
        #expect(page.matches(of: /\n\| `/).count == codes.count)
    }

    /// Of a file of the library.
    private func text(_ name: String) throws -> String {
        var root = URL(filePath: #filePath)
        repeat {
            root.deleteLastPathComponent()
        } while !FileManager.default.fileExists(
            atPath: root.appending(path: "Package.swift").path())
        return try String(contentsOf: root.appending(path: "Sources/OAuthClient/\(name)"), encoding: .utf8)
    }
}
