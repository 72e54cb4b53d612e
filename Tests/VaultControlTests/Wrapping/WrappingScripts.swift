import Foundation
import Glibc
import TestSupport
import Testing

/// A script of `packaging/wrapping`, called as vaultctl calls it, with stubs of the tools that it needs.
struct WrappingScript {
    static let folder = Installation.root + "/packaging/wrapping/"
    static let key = Data((0..<32).map { UInt8(200 - 5 * $0) })
    static let vault = "0123456789abcdefghjkmnpqrs"
    static let slot = "zyxwvtsrqpnmkjhgfedcba9876"

    let service: WrappingService
    let directory: PrivateDirectory
    private let stubs: String

    init(_ service: WrappingService) throws {
        self.service = service
        directory = try PrivateDirectory()
        stubs = directory.file("bin")
        try FileManager.default.createDirectory(atPath: stubs, withIntermediateDirectories: false)
        for tool in service.tools {
            try Self.write("#!/bin/sh\n" + WrappingService.stubBeginning + service.stub, to: stubs + "/" + tool)
        }
        try Self.key.write(to: URL(filePath: directory.file("key")))
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }

    struct Outcome {
        let status: Int32
        let output: Data
        let error: String
    }

    func run(
        _ verb: String, input: String, slot: String = Self.slot, arguments: [String]? = nil
    ) async throws -> Outcome {
        let (output, error) = (directory.file("out"), directory.file("err"))
        let words = ["sh", Self.folder + service.name] + (arguments ?? service.arguments) + [verb]
        let run = try await ProgramRun(
            URL(filePath: "/bin/sh"),
            ["-c", "cd /; exec \"$@\" <'\(directory.file(input))' >'\(output)' 2>'\(error)'"] + words,
            environment: [
                "PATH": stubs + ":/usr/bin:/bin", "HOME": "/", "TOKENVAULT_VAULT_ID": Self.vault,
                "TOKENVAULT_SLOT": slot,
            ])
        return Outcome(
            status: run.exitCode, output: try Data(contentsOf: URL(filePath: output)),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    /// What the tools were called with, one argument a line, since the last time.
    func takeArguments() throws -> [String] {
        let path = stubs + "/arguments"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try FileManager.default.removeItem(atPath: path)
        return text.split(separator: "\n").map(String.init)
    }

    /// Lets the tools fail with these words from now on.
    func fail(_ words: String) throws { try Data(words.utf8).write(to: URL(filePath: stubs + "/failure")) }

    /// A program that vaultctl can call, for which the stubs are the tools.
    func program() throws -> String {
        let path = directory.file("program")
        let words = ([Self.folder + service.name] + service.arguments).map { "'\($0)'" }.joined(separator: " ")
        try Self.write("#!/bin/sh\nPATH='\(stubs)':/usr/bin:/bin\nexport PATH\nexec \(words) \"$@\"\n", to: path)
        return path
    }
}

/// A service that wraps keys: how its script is called, what the script is to ask its tools, and what these would answer.
struct WrappingService: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    let tools: [String]
    /// Each call's arguments, as the tool's documentation has them.
    let wrapping: [String]
    let unwrapping: [String]
    /// What the tool says when it is worth trying again.
    let busy: String
    let stub: String

    var testDescription: String { name }

    /// The script for clevis reads with jose, which clevis itself needs.
    static let hasJose = unsafe access("/usr/bin/jose", X_OK) == 0
    static let all = [aws, google, azure, transit, tpm2] + (hasJose ? [clevis] : [])

    static let stubBeginning = """
        here=${0%/*}
        for argument; do printf '%s\\n' "$argument"; done >>"$here/arguments"
        if [ -e "$here/failure" ]; then cat "$here/failure" >&2; exit 2; fi
        # value NAME ARGUMENT…: what follows the name.
        value() {
            name=$1
            while [ $# -gt 1 ]; do
                shift
                case $1 in "$name") printf '%s' "$2" ;; "$name"=*) printf '%s' "${1#*=}" ;; esac
            done
        }
        bound() { if [ "$1" != "$2" ]; then echo "another context" >&2; exit 254; fi; }

        """

    private static let context = "vault=\(WrappingScript.vault),slot=\(WrappingScript.slot)"

    static let aws = {
        let key = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd"
        let options = [
            "--key-id", key, "--region", "eu-central-1", "--encryption-context", context, "--cli-connect-timeout", "3",
            "--cli-read-timeout", "3", "--output", "text",
        ]
        return WrappingService(
            name: "aws-kms", arguments: [key], tools: ["aws"],
            wrapping: ["kms", "encrypt", "--plaintext", "fileb:///dev/stdin", "--query", "[CiphertextBlob,KeyId]"]
                + options,
            unwrapping: ["kms", "decrypt", "--ciphertext-blob", "fileb:///dev/stdin", "--query", "Plaintext"] + options,
            busy: "An error occurred (ThrottlingException) when calling the Encrypt operation",
            stub: """
                context=$(value --encryption-context "$@")
                case $2 in
                encrypt)
                    file=$(value --plaintext "$@")
                    printf '%s\\t%s\\n' "$({ echo "$context"; base64 -w 0 "${file#fileb://}"; } | base64 -w 0)" \\
                        "$(value --key-id "$@")"
                    ;;
                decrypt) { read -r first; bound "$first" "$context"; cat; echo; } ;;
                esac

                """)
    }()

    static let google = {
        let key = "projects/p/locations/europe/keyRings/r/cryptoKeys/k"
        let options = [
            "--quiet", "--key", key, "--plaintext-file=-", "--ciphertext-file=-",
            "--additional-authenticated-data-file=/dev/fd/4",
        ]
        return WrappingService(
            name: "google-kms", arguments: [key], tools: ["gcloud"], wrapping: ["kms", "encrypt"] + options,
            unwrapping: ["kms", "decrypt"] + options,
            busy: "ERROR: (gcloud.kms.encrypt) UNAVAILABLE: The service is currently unavailable.",
            stub: """
                context=$(cat "$(value --additional-authenticated-data-file "$@")")
                case $2 in
                encrypt) echo "$context"; base64 -w 0 ;;
                decrypt) { read -r first; bound "$first" "$context"; base64 -d; } ;;
                esac

                """)
    }()

    static let azure = {
        let key = "https://name.managedhsm.azure.net/keys/tokenvault"
        let options = [
            "--algorithm", "A256GCM", "--aad", context.utf8.map { String($0, radix: 16) }.joined(), "--data-type",
            "base64", "--value", "@-", "--only-show-errors", "--output", "tsv",
        ]
        return WrappingService(
            name: "azure-key-vault", arguments: [key], tools: ["az"],
            wrapping: ["keyvault", "key", "encrypt", "--id", key, "--query", "[kid,iv,tag,result]"] + options,
            unwrapping: [
                "keyvault", "key", "decrypt", "--id", key + "/0123abcd", "--iv", "00ff", "--tag", "aa55", "--query",
                "result",
            ] + options,
            busy: "ERROR: (Throttled) Request was not processed because too many requests were received.",
            stub: """
                context=$(value --aad "$@")
                case $3 in
                encrypt)
                    printf '%s/0123abcd\\n00ff\\naa55\\n' "$(value --id "$@")"
                    { echo "$context"; cat; } | base64 -w 0; echo
                    ;;
                decrypt) base64 -d | { read -r first; bound "$first" "$context"; cat; echo; } ;;
                esac

                """)
    }()

    static let transit = {
        let sealed = Data(context.utf8).base64EncodedString()
        let address = "https://vault.example:8200"
        func arguments(_ verb: String, _ field: String, _ answer: String) -> [String] {
            [
                "write", "-address=\(address)", "-field=\(answer)", "transit/\(verb)/tokenvault", "\(field)=-",
                "associated_data=\(sealed)",
            ]
        }
        return WrappingService(
            name: "vault-transit", arguments: [address, "transit", "tokenvault"], tools: ["vault"],
            wrapping: arguments("encrypt", "plaintext", "ciphertext"),
            unwrapping: arguments("decrypt", "ciphertext", "plaintext"),
            busy: "URL: PUT \(address)/v1/transit/encrypt/tokenvault\nCode: 503. Errors:\n\n* Vault is sealed",
            stub: """
                context=$(value associated_data "$@")
                case $4 in
                */encrypt/*) printf 'vault:v1:%s' "$({ echo "$context"; cat; } | base64 -w 0)" ;;
                */decrypt/*)
                    sealed=$(cat)
                    printf '%s' "${sealed#vault:v1:}" | base64 -d |
                        { read -r first; bound "$first" "$context"; cat; }
                    ;;
                esac

                """)
    }()

    /// The stub wraps as clevis does, in a JWE whose header says how it is opened (RFC 7516, 3.1).
    static let clevis = WrappingService(
        name: "clevis", arguments: ["tang", #"{"url":"http://tang.example"}"#], tools: ["clevis"],
        wrapping: ["encrypt", "tang", #"{"url":"http://tang.example"}"#], unwrapping: ["decrypt"],
        busy: "Error communicating with server http://tang.example",
        stub: """
            case $1 in
            encrypt)
                printf '{"clevis":{"pin":"%s","%s":%s}}' "$2" "$2" "$3" | base64 -w 0 | tr '+/' '-_' | tr -d =
                printf .
                base64 -w 0
                ;;
            decrypt) wrapped=$(cat); printf '%s' "${wrapped#*.}" | base64 -d ;;
            esac

            """)

    /// Its arguments name files of a temporary directory: only those of one call are compared.
    static let tpm2 = WrappingService(
        name: "tpm2", arguments: ["device:/dev/tpm9"],
        tools: ["tpm2_createprimary", "tpm2_create", "tpm2_load", "tpm2_unseal", "tpm2_flushcontext"],
        wrapping: ["-Q", "-C", "o", "-g", "sha256", "-G", "ecc", "-c", "primary", "-t"]
            + ["-Q", "-C", "primary", "-i", "-", "-u", "public", "-r", "private", "-t"],
        unwrapping: ["-Q", "-C", "o", "-g", "sha256", "-G", "ecc", "-c", "primary", "-t"]
            + ["-Q", "-C", "primary", "-u", "public", "-r", "private", "-c", "sealed", "-c", "sealed", "-t"],
        busy: "ERROR: Esys_CreatePrimary(0x902) - tpm:warn(2.0): out of memory for object contexts",
        stub: """
            [ "$TPM2TOOLS_TCTI" = device:/dev/tpm9 ] || exit 3
            case ${0##*/} in
            tpm2_create) echo public >"$(value -u "$@")"; cat >"$(value -r "$@")" ;;
            tpm2_load) cat "$(value -r "$@")" >"$(value -c "$@")" ;;
            tpm2_unseal) cat "$(value -c "$@")" ;;
            esac

            """)
}
