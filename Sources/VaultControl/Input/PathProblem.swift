import Platform
import SettingsText

/// Why a path cannot be opened: because of its spelling, or by the system's error.
struct PathProblem {
    /// One sentence, lower case, without a full stop; names the path.
    let message: String
    let hints: [String]
    /// Whether the file is missing. Otherwise it is inaccessible.
    let isMissing: Bool

    /// Nil if something is there.
    ///
    /// - Parameters:
    ///   - noun: the expected thing, such as `vault`.
    ///   - origin: the source of the path: an option, a variable, or a line of the configuration file.
    ///   - advice: the hint if there is no better one.
    init?(_ noun: String, at path: String, from origin: String, advice: String, home: String? = nil) {
        let error: SystemError
        do throws(SystemError) {
            let status = try FileStatus(at: path, followingLinks: true)
            // Opening another user's file reports its owner.
            guard status.isOurs, NamedFile(path).refusal(of: .reading) == .accessDenied else { return nil }
            message = "the \(noun) \(Printable.path(path)) (\(origin)) cannot be read: permission denied"
            (hints, isMissing) = (["check its mode: ls -l \(Printable.path(path))"], false)
            return
        } catch let failure {
            error = failure
        }
        let place = "\(Printable.path(path)) (\(origin))"
        if error == .notFound || error == .notDirectory, let slip = Self.slip(path, noun, home) {
            let isEmpty = path.isEmpty
            message = isEmpty ? "the path of the \(noun) is empty (\(origin))" : "there is no \(noun) at \(place)"
            (hints, isMissing) = ([slip], true)
            return
        }
        isMissing = error == .notFound || error == .notDirectory
        switch error {
        case .notFound where FileIdentity(path: path) != nil:
            message = "there is no \(noun) at \(place): it is a symbolic link that leads nowhere"
            hints = ["check \(origin), or where the link leads: readlink \(Printable.path(path))"]
        case .notFound where Self.directory(of: path) != nil:
            let directory = Printable.path(Self.directory(of: path) ?? "")
            message = "there is no \(noun) at \(place): there is no directory \(directory)"
            hints = [advice]
        case .notFound:
            message = "there is no \(noun) at \(place)"
            hints = [advice] + Self.whereRelative(path, origin)
        case .notDirectory:
            message = "there is no \(noun) at \(place): a part of the path is a file, not a directory"
            hints = [advice]
        case .tooManyLinks:
            message = "the \(noun) \(place) is a symbolic link that leads in a circle"
            hints = ["check \(origin), and where the link leads: readlink \(Printable.path(path))"]
        case .accessDenied, .notPermitted:
            let closed = Self.closedDirectory(of: path)
            message =
                "the \(noun) \(place) cannot be reached by this user: "
                + (closed.map { "\(Printable.path($0.path)) is closed to it" } ?? "permission denied")
            hints = [
                closed.map { "run vaultctl as its owner, \($0.owner); or check \(origin)" }
                    ?? "check owner and modes of its directories"
            ]
        default:
            message = "the \(noun) \(place) cannot be reached: \(error.text)"
            hints = ["check \(origin)"]
        }
    }

    /// A variable is set in one directory, and read in another.
    private static func whereRelative(_ path: String, _ origin: String) -> [String] {
        guard !path.hasPrefix("/"), origin.hasPrefix("TOKENVAULT_"), let here = NamedFile(".").resolved else {
            return []
        }
        return ["the path is relative, to \(Printable.path(here)) here: a variable should have a whole path"]
    }

    /// The mistake in the path's spelling, and a correction; nil if the path is plausible.
    static func slip(_ path: String, _ noun: String, _ home: String?) -> String? {
        if path.isEmpty { return "name a file, or leave the setting out" }
        if path == "-" {
            let option = noun == "key file" ? "--key" : noun == "passphrase file" ? "--passphrase" : nil
            return option.map { "to read it from standard input: \($0) -" }
                ?? "a \(noun) is a file: it cannot be read from standard input"
        }
        if path.hasPrefix("~") {
            let whole = path.hasPrefix("~/") ? home.map { $0 + path.dropFirst() } : nil
            return "no shell has replaced the ~: "
                + (whole.map { "write \(Printable.path($0))" } ?? "write the whole path, or leave out the quotes")
        }
        if path.hasPrefix("$") || path.contains("${") { return "no shell has replaced the $: leave the quotes away" }
        if path.hasPrefix("=") { return "one = is enough: write \(Printable.path(String(path.drop { $0 == "=" })))" }
        if let rest = bare(path) { return "write the path alone: \(Printable.path(rest))" }
        if let scheme = scheme(of: path) {
            if noun == "source", let program = dumps[scheme.lowercased()] {
                return
                    "a server is not read, but a dump of it: \(program) >app.sql, and then vaultctl import run app.sql"
            }
            return "expected a path, but this is an address (\(Printable.shortened(scheme)))"
        }
        if path.contains("*") { return "no shell has replaced the *: write the path itself" }
        if path.hasSuffix("/"), FileKind(String(path.dropLast())) != nil {
            return "it is a file: write it without the / at its end"
        }
        let trimmed = trimmed(path)
        if trimmed != path {
            return (try? FileStatus(at: trimmed, followingLinks: true)) != nil
                ? "there is one without the blank: \(Printable.path(trimmed))"
                : "the path has a blank at its beginning or end: check the quotes"
        }
        if unquoted(path) != nil { return "the quotes are part of the path: leave them away" }
        return nil
    }

    private static let dumps = [
        "postgresql": "pg_dump --data-only DATABASE", "postgres": "pg_dump --data-only DATABASE",
        "mysql": "mysqldump DATABASE", "mariadb": "mysqldump DATABASE",
    ]

    /// The path in `file:///path` and `sqlite:path`.
    static func bare(_ text: String) -> String? {
        for front in ["file://", "file:", "sqlite3://", "sqlite://", "sqlite3:", "sqlite:"]
        where text.lowercased().hasPrefix(front) {
            let rest = String(text.dropFirst(front.count))
            return rest.hasPrefix("//") ? String(rest.dropFirst()) : rest
        }
        return nil
    }

    /// `mysql` of `mysql://…`.
    static func scheme(of text: String) -> String? {
        guard let end = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<end.lowerBound]
        let isOne = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-:".contains($0)) }
        return isOne && scheme.first?.isLetter == true ? String(scheme) : nil
    }

    /// The text in `'path'` and `“path”`; nil if it has no quotation marks.
    static func unquoted(_ text: String) -> String? {
        let marks = SettingsScanner.bentMarks.union(["'", "\"", "`"])
        guard text.count > 2, let first = text.first, let last = text.last, marks.contains(first), marks.contains(last)
        else { return nil }
        return String(text.dropFirst().dropLast())
    }

    static func trimmed(_ path: String) -> String {
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        return String(path.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    /// The directory that should hold it, if that is missing.
    private static func directory(of path: String) -> String? {
        let directory = PathName.directory(of: path)
        return (try? FileStatus(at: directory, followingLinks: true)) == nil ? directory : nil
    }

    /// The last accessible directory on the way, and its owner.
    private static func closedDirectory(of path: String) -> (path: String, owner: String)? {
        var directory = path
        repeat {
            directory = PathName.directory(of: directory)
            if let status = try? FileStatus(at: directory, followingLinks: true) {
                return (directory, words(status.owner))
            }
        } while directory != "/" && directory != "."
        return nil
    }

    /// A user's name, or else their number.
    static func words(_ user: UserID) -> String { user.name ?? "'#\(user)'" }
}
