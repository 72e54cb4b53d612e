import FoundationEssentials
import OAuthClient

/// A program and its arguments, as a JSON array: no shell, and no ambiguity about where an argument ends.
enum ProgramArguments {
    static let key = #"["/usr/bin/pass", "show", "vault-key"]"#
    static let decryption = #"["/usr/local/bin/open-tokens"]"#
    static let wrapping = #"["/usr/local/libexec/tokenvault/wrapping/tpm2"]"#
    static let witness = #"["/usr/bin/ssh", "witness.example", "keep-newest"]"#

    /// - Parameters:
    ///   - name: the option or variable, for errors.
    ///   - example: an example, also for errors.
    static func parse(_ text: String, _ name: String, example: String = key) throws(Failure) -> [String] {
        // Foundation lets a comma stand at the end, where a word may be missing.
        let isStrict = (try? JSONObject(document: Array("{\"\":\(text)}".utf8))) != nil
        let arguments = isStrict ? try? JSONDecoder().decode([String].self, from: Data(text.utf8)) : nil
        guard let arguments, !arguments.isEmpty else {
            throw .usage(
                arguments == nil ? "\(name) is not a JSON array of texts" : "\(name) is an empty JSON array",
                hint: "for example: \(name)\(name.hasPrefix("-") ? " " : "=")'\(example)'")
        }
        return arguments
    }
}
