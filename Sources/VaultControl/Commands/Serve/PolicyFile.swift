import OAuthClient
import VaultServer

/// The policy of `serve`, by its path.
struct PolicyFile {
    let path: String

    private static let form = "each client begins with a line [[client]]; see docs/serve.md"
    private static let longest = 1 << 20

    func read() throws(Failure) -> ServePolicy {
        // They are no text, which is said of what has no name.
        if let kind = FileKind(path), [.vault, .backup].contains(kind) {
            throw .usage("\(Printable.path(path)) (--policy) is \(kind.words), and no policy", hint: Self.form)
        }
        let file = SettingsFile(noun: "policy", origin: "--policy", longest: Self.longest)
        let text = try file.text(at: path)
        do throws(PolicyProblem) { return try ServePolicy(text) } catch {
            if FileKind(path) == .keyFile {
                throw .usage("\(Printable.path(path)) (--policy) is a key file, and no policy", hint: Self.form)
            }
            if text.first(where: { !$0.isWhitespace }) == "{" {
                throw .usage("\(Printable.path(path)) (--policy) is JSON, and a policy is not", hint: Self.form)
            }
            let line = error.line.map { ", line \($0)" } ?? ""
            let place = Printable.path(path) + line + (error.column.map { ", column \($0)" } ?? "")
            throw Failure(
                .usage, code: "policy", "\(place): \(error.message)", hints: error.hint.map { [$0] } ?? [])
        }
    }
}
