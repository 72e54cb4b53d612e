import ArgumentParser
import TokenVault
import VaultAdministration

struct LoginSalvageCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Inspect unusable replies, and take a refresh token from one.",
        discussion: """
            vaultctl login salvage LOGIN
            vaultctl login salvage LOGIN --use REPLY
            vaultctl login salvage LOGIN --reveal REPLY > reply.bin

            When the provider answers a renewal with something that cannot be parsed, the answer may hold the only \
            copy of the next refresh token. It is kept, sealed, for a week or until the login is renewed.

            --use makes the refresh token found in it the login's next one. It sends nothing; if the provider refuses \
            it at the next renewal, the login ends.

            --reveal prints the bytes as they came: very likely tokens, in any case untrusted text. It is recorded in \
            the audit log, and refused on a terminal without --on-terminal.
            """)

    @OptionGroup var selection: LoginSelection

    @Option(name: .customLong("use"), help: .init("Take the refresh token from this reply.", valueName: "reply"))
    var used: String?

    @Option(name: .customLong("reveal"), help: .init("Print the body of this reply.", valueName: "reply"))
    var revealed: String?

    @Flag(help: "Print the body even on a terminal.")
    var onTerminal = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        if used == nil || revealed == nil, let reply = used ?? revealed {
            let login = selection.login.map { Printable.argument($0) } ?? "LOGIN"
            try ShortID.check(reply, noun: "reply id", of: "the kept replies: vaultctl login salvage \(login)")
        }
        switch (used, revealed) {
        case (nil, nil): try await list(invocation)
        case (let text?, nil): try await use(text, invocation)
        case (nil, let text?): try await reveal(text, invocation)
        case (_?, _?): throw Failure.usage("--use and --reveal cannot be combined", hint: "use only one of them")
        }
    }

    private static func id(_ text: String, of login: LoginID, in vault: Vault) async throws -> UnusableReplyID {
        if let id = UnusableReplyID(text) { return id }
        return try ShortID.find(
            text, among: try await vault.unusableReplies(of: login).map(\.id), noun: "reply",
            list: "vaultctl login salvage \(login)", missing: .unknownReply, id: { $0.description })
    }

    private func list(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            let login = try await selection.find(in: vault)
            var listing = Listing(
                "replies", ["REPLY", "RECEIVED", "STATUS", "BYTES", "REFRESH TOKENS", "CAUSE"], invocation)
            let replies = try await vault.unusableReplies(of: login.id)
            for reply in replies { try listing.append(Self.record(reply)) }
            try listing.finish()
            if listing.isEmpty {
                invocation.note("no replies are kept for this login")
            } else if let reply = replies.last(where: { $0.isCurrent && $0.refreshTokenCount == 1 }) {
                invocation.hint("take its refresh token: vaultctl login salvage \(login.id) --use \(reply.id)")
            }
        }
    }

    private func use(_ reply: String, _ invocation: Invocation) async throws {
        let login = try await VaultAccess(global, invocation).manage { users in
            let login = try await selection.find(in: users.vault)
            let id = try await Self.id(reply, of: login.id, in: users.vault)
            try confirmation.require(
                "Take the refresh token from this reply for \(LoginView.name(login))", isFinal: false, invocation)
            return try await users.useUnusableReply(id, of: login.id)
        }
        let diagnosis = try await VaultAccess(global, invocation).open { try await $0.diagnosis(of: login.id) }
        try invocation.emit(LoginView.record(diagnosis, now: invocation.now))
        invocation.hint("see whether it works: vaultctl login refresh \(login.id)")
    }

    private func reveal(_ reply: String, _ invocation: Invocation) async throws {
        guard onTerminal || !invocation.isTerminal else {
            throw Failure.usage(
                "a reply's body is not shown on a terminal",
                hint: "write it to a file or a pipe, or add --on-terminal")
        }
        let (id, body, isUTF8) = try await VaultAccess(global, invocation).manage { users in
            let login = try await selection.find(in: users.vault)
            let id = try await Self.id(reply, of: login.id, in: users.vault)
            let body = try await users.revealUnusableReply(id, of: login.id)
            return (id, body, String(validating: body, as: UTF8.self) != nil)
        }
        if invocation.isJSON {
            try invocation.emit(
                OutputRecord([.data("reply", id), .data("body", isUTF8 ? String(decoding: body, as: UTF8.self) : nil)]),
                text: "")
        } else {
            try invocation.console.write(body, to: .output)
        }
    }

    private static func record(_ reply: UnusableReply) -> OutputRecord {
        [
            Field("reply", reply.id).column("REPLY"),
            Field("receivedAt", reply.receivedAt).column("RECEIVED"),
            Field("status", reply.status).column("STATUS"),
            .data("contentType", reply.contentType),
            Field("bytes", reply.byteCount)
                .column(
                    "BYTES", "\(reply.byteCount)" + (reply.isComplete ? "" : ", cut short"), inPipe: reply.byteCount),
            .data("complete", reply.isComplete),
            Field("refreshTokens", reply.refreshTokenCount).column("REFRESH TOKENS"),
            .data("current", reply.isCurrent),
            Field("cause", reply.cause).column(
                "CAUSE", reply.cause + (reply.isCurrent ? "" : " (the login has moved on)")),
        ]
    }
}
