import ArgumentParser
import FoundationEssentials

/// A command's options, by each of their names, and its arguments in order.
///
/// Asking the parser takes longer than many a command: use it only for command lines that look wrong.
struct CommandShape {
    struct Taken: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var typed: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        let kind: String
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?

        var takesValue: Bool { kind == "option" }
        /// Its name in errors: `--user`, or `SOURCE`.
        var title: String {
            let long = names?.first { $0.kind == "long" } ?? names?.first
            return long.map(\.typed) ?? (valueName ?? "argument").uppercased()
        }
    }

    private struct Dump: Decodable {
        struct Command: Decodable { let arguments: [Taken]? }
        let command: Command
    }

    private var options: [String: Taken] = [:]
    private(set) var positionals: [Taken] = []

    init(of command: any ParsableCommand.Type) {
        let dump = try? JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8))
        for taken in dump?.command.arguments ?? [] {
            guard taken.kind != "positional" else {
                positionals.append(taken)
                continue
            }
            for name in taken.names ?? [] { options[name.typed] = taken }
        }
    }

    subscript(_ option: String) -> Taken? { options[option] }
}
