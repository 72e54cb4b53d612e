extension Failure {
    /// Refuses several recipients in one value, and the file of an identity.
    static func requireSingle(_ recipients: [String], _ option: String) throws(Failure) {
        if let path = recipients.first(where: { !$0.hasPrefix("age1") && FileKind($0) != nil }) {
            throw .usage(
                "\(option) takes a recipient, age1…, and \(Printable.path(path)) is a file",
                hint: FileKind(path) == .identity
                    ? "its recipient: \(option) $(age-keygen -y \(Printable.path(path)))"
                    : "make an identity with age-keygen -o FILE; its recipient: \(option) $(age-keygen -y FILE)")
        }
        let isSeveral = { (text: String) in text.hasPrefix("age1") && text.contains { ", ".contains($0) } }
        guard let text = recipients.first(where: isSeveral) else { return }
        let parts = text.split(whereSeparator: { ", ".contains($0) }).prefix(4)
            .map { "\(option) \(Printable.shortened(String($0), to: 80))" }
        throw .usage(
            "\(option) takes one recipient", hint: "repeat the option for each: \(parts.joined(separator: " "))")
    }
}
