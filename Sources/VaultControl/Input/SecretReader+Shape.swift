import OAuthClient
import TokenVault

/// Text that was given as a token or a client's secret, but only contains one.
extension SecretReader {
    /// Refuses a reply or a header field that contains the token, and additions by a shell or an editor: the provider
    /// would later refuse the stored text. The text is never shown.
    static func refuseOther(_ text: String, _ title: String, _ place: String) throws(Failure) {
        let noun = title.lowercasedFirst
        if noun == "new passphrase", text.hasPrefix("{\""), text.last(where: { !$0.isWhitespace }) == "}" {
            throw .usage("the \(noun)\(place) is a JSON document", hint: "give the passphrase alone, as one line")
        }
        let isToken = noun.hasSuffix("access token") || noun.hasSuffix("refresh token")
        guard isToken || noun.hasSuffix("client secret") else { return }
        if text.unicodeScalars.first == "\u{FEFF}" {
            throw .usage(
                "the \(noun)\(place) begins with a mark that an editor has put before it",
                hint: "save it without a byte order mark: sed -i '1s/^\\xEF\\xBB\\xBF//' FILE")
        }
        if let (what, hint) = document(text, noun) {
            throw .usage("the \(noun)\(place) is \(what)", hint: hint)
        }
        if text.contains(where: \.isNewline) {
            throw .usage("the \(noun)\(place) has more than one line", hint: "give the \(noun) alone, as one line")
        }
        if text.count > 1, let first = text.first, "\"'`".contains(first), text.last == first {
            throw .usage("the \(noun)\(place) is in quotation marks", hint: "leave them out")
        }
        // The output of `jq -r` for a missing member.
        if ["null", "undefined", "none"].contains(text.lowercased()) {
            throw .usage(
                "the \(noun)\(place) is the word \(text)", hint: "the program that wrote it found no value: check it")
        }
        if text.first?.isWhitespace == true || text.last?.isWhitespace == true {
            let what = text.allSatisfy(\.isWhitespace) ? "is blank" : "begins or ends with a blank"
            throw .usage("the \(noun)\(place) \(what)", hint: "write the \(noun) alone")
        }
        guard isToken, let (what, hint) = surroundings(of: text, noun) else { return }
        throw .usage("the \(noun)\(place) \(what)", hint: hint)
    }

    /// The same text twice is one of both at the wrong option.
    static func refuseSame(_ access: AccessToken?, _ refresh: RefreshToken?) throws(Failure) {
        guard let access, let refresh, access.reveal() == refresh.reveal() else { return }
        throw .usage(
            "the access token and the refresh token are the same text",
            hint: "one of them is another: check the files; a login may have only one of them")
    }

    private static func document(_ text: String, _ noun: String) -> (String, String)? {
        let member = noun.hasSuffix("access token") ? "access_token" : noun.replacing(" ", with: "_")
        if text.hasPrefix("-----BEGIN ") {
            let isClients = noun.hasSuffix("client secret") && text.contains("PRIVATE KEY-----")
            return (
                "a file in PEM form",
                isClients
                    ? "a private key goes with: --client-auth private_key_jwt --client-key-file FILE"
                    : "check where it comes from"
            )
        }
        let last = text.last { !$0.isWhitespace }
        switch (text.first, last) {
        case ("{", "}"), ("[", "]"):
            return ("a JSON document", "give the value alone, such as that of its member \(member): jq -r .\(member)")
        case ("<", ">"): return ("a document, such as the page of an error", "check where it comes from")
        default: return nil
        }
    }

    private static func surroundings(of text: String, _ noun: String) -> (String, String)? {
        let lower = text.lowercased()
        if ["http://", "https://"].contains(where: lower.hasPrefix) {
            return ("is a URL", "give the \(noun) alone; the URL of a callback goes with: vaultctl login complete")
        }
        for scheme in ["authorization:", "bearer ", "dpop "] where lower.hasPrefix(scheme) {
            return ("begins with \(text.prefix(scheme.count - 1))", "write only the part after that")
        }
        // `access_token=…`, and `export TOKEN=…` in a shell file.
        let name = lower.prefix { $0.isASCII && ($0.isLetter || "_-. ".contains($0)) }
        if name.hasPrefix("export ") || name.contains("token"), text.dropFirst(name.count).first == "=" {
            return ("is of the form NAME=VALUE", "write the value alone")
        }
        return noun.hasSuffix("access token") && text.contains(" ")
            ? ("has a blank in it", "it is one word: copy it again") : nil
    }

    /// A file that cannot be the secret must not lead to advice about its mode or its length: secrets are one line, and
    /// keys PEM or JSON.
    static func other(_ path: String, _ title: String, from origin: String) -> Failure? {
        guard !title.lowercased().contains("key"), let kind = FileKind(path) else { return nil }
        let bytes = try? InputFile.read(path, title, from: origin, atMost: maximumBytes)
        let isOne = kind == .unknown && (bytes?.split(separator: UInt8(ascii: "\n")).count ?? 0) < 2
        guard !isOne else { return nil }
        let what = kind == .unknown ? "has more than one line" : "is \(kind.words)"
        let noun = title.lowercasedFirst
        return .usage(
            "the \(noun) file \(Printable.path(path)) \(what), and no \(noun)",
            hint: kind == .keyFile && noun == "passphrase"
                ? "a key file opens the vault by itself: --key-file \(Printable.path(path))"
                : "name a private file with the \(noun) alone in it, as one line")
    }
}
