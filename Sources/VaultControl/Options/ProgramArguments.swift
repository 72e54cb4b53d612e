import FoundationEssentials

/// A program and its arguments, as a JSON array: no shell, and no doubt about where an argument ends.
enum ProgramArguments {
    /// - Parameter name: the option or variable, for errors.
    static func parse(_ text: String, _ name: String) throws(Failure) -> [String] {
        guard let arguments = try? JSONDecoder().decode([String].self, from: Data(text.utf8)), !arguments.isEmpty else {
            throw .usage(
                "\(name) is not a JSON array of texts",
                hint: "for example: \(name) '[\"/usr/bin/pass\", \"show\", \"vault-key\"]'")
        }
        return arguments
    }
}
