import OAuthClient

extension Scope {
    /// The scope in an option's value.
    init(_ text: String, of option: String) throws(Failure) {
        do throws(OAuthValueError) { try self.init(text) } catch {
            guard let odd = text.first(where: { $0 != " " && (try? Scope(tokens: [String($0)])) == nil }) else {
                throw Failure(error)
            }
            throw .usage(
                "the scope (\(option)) has a character that is not allowed: \(Printable.escape(String(odd)))",
                hint: "separate its words by blanks; they are ASCII without quotation marks and backslashes")
        }
    }
}
