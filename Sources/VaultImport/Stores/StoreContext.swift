/// The shared state while a store is read. Used by one thread at a time.
final class StoreContext {
    let plan: ImportPlan
    let format: SourceFormat
    /// Members that no description knows, as far as they may be shown.
    private(set) var unknownMembers: [String] = []
    /// Decrypts tokens that the site encrypted in its own way.
    let decryptor: TokenDecryptor?
    private let betterAuth: BetterAuthCipher
    private let nango: NangoCipher?
    /// Whether a secret has decrypted a value: a later failure then means a damaged row, not a wrong secret.
    private var hasOpened = false
    private var knownColumns: (columns: ColumnIndex, hasUnknown: Bool)?

    init(plan: ImportPlan, format: SourceFormat) throws(ImportError) {
        self.plan = plan
        self.format = format
        decryptor =
            if let command = plan.secrets.decryptCommand { try TokenDecryptor(command, plan.limits) } else { nil }
        betterAuth = BetterAuthCipher(plan.secrets)
        nango = plan.secrets.nango.flatMap { NangoCipher($0) }
        if plan.secrets.nango != nil, nango == nil {
            throw ImportError(
                .unfitPlan, "Nango's encryption key is not 32 bytes in Base64",
                hint: "take the value of NANGO_ENCRYPTION_KEY as it is")
        }
    }

    /// A Better Auth token, decrypted if it is encrypted.
    func openBetterAuth(_ text: String, _ draft: inout LoginDraft) throws(RowStop) -> String {
        switch betterAuth.read(text) {
        case .plain: return text
        case .maybeSealed:
            guard plan.tokensArePlain else {
                throw .abort(
                    ImportError(
                        .secretNeeded, "the tokens look as if Better Auth had encrypted them",
                        hint: "give the value of BETTER_AUTH_SECRET"))
            }
            draft.warn(.maybeEncrypted)
            return text
        case .opened(let token):
            hasOpened = true
            return token
        case .keyNeeded(let version):
            guard !hasOpened else { throw .reject(.notDecryptable) }
            throw .abort(
                ImportError(
                    .secretNeeded, "the tokens are encrypted with version \(version ?? 0) of Better Auth's secrets",
                    hint: "give the value of that version from BETTER_AUTH_SECRETS"))
        case .notDecryptable: throw notOpened("Better Auth's secret does not open the first encrypted token")
        }
    }

    /// A token as stored, or as the plan's program has decrypted it.
    func open(_ stored: String) throws(RowStop) -> String {
        guard let decryptor else {
            guard !plan.tokensArePlain, let product = SealedText.product(of: stored) else { return stored }
            throw .abort(
                ImportError(
                    .secretNeeded, "the tokens look as if \(product) had encrypted them",
                    hint: "give a program that opens them: docs/import.md, “Tokens in a cipher of your own”"))
        }
        guard let opened = decryptor[stored] else {
            throw notOpened("the decrypt command does not open the first token")
        }
        hasOpened = true
        return opened
    }

    /// Decrypts a value that Nango encrypted.
    func openNango(_ text: String, nonce: String, tag: String) throws(RowStop) -> [UInt8] {
        guard let nango else {
            throw .abort(
                ImportError(
                    .secretNeeded, "the credentials are encrypted with Nango's key",
                    hint: "give the value of NANGO_ENCRYPTION_KEY"))
        }
        guard let opened = nango.open(text, nonce: nonce, tag: tag) else {
            throw notOpened("Nango's key does not open the first encrypted row")
        }
        hasOpened = true
        return opened
    }

    /// A wrong secret is one error, not a hundred thousand rejects.
    private func notOpened(_ message: String) -> RowStop {
        if hasOpened { return .reject(.notDecryptable) }
        return .abort(ImportError(.wrongSecret, message, hint: "check the secret; nothing was read"))
    }

    /// Whether a record has members that are not among these. Their names are kept, as far as they are valid names.
    func hasUnknownMembers(_ record: Record, known: Set<String>) -> Bool {
        if let knownColumns, knownColumns.columns === record.columns { return knownColumns.hasUnknown }
        let unknown = record.columns.names.filter { !known.contains(ColumnIndex.folded($0)) }
        for name in unknown where unknownMembers.count < 32 && !unknownMembers.contains(name) {
            let isName = (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            if isName { unknownMembers.append(name) }
        }
        knownColumns = (record.columns, !unknown.isEmpty)
        return !unknown.isEmpty
    }
}
