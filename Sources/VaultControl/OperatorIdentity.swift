import ArgumentParser
import Glibc
import TokenVault

/// The user who runs this program, for the audit trail.
enum OperatorIdentity {
    /// - Parameters:
    ///   - arguments: the program's, with its command in front.
    ///   - environment: may name the user who invoked `sudo`.
    static func actor(_ arguments: [String], _ environment: [String: String]) -> VaultOptions.Actor {
        let uid = geteuid()
        // Only root is trusted: any other user could name anyone.
        let caller = uid == 0 ? environment["SUDO_USER"].flatMap { $0.isEmpty ? nil : $0 } : nil
        return VaultOptions.Actor(
            uid: Int(uid), name: caller ?? name(of: uid), host: host, tool: tool(arguments))
    }

    /// The command alone: arguments may contain anything.
    private static func tool(_ arguments: [String]) -> String {
        var (command, words): (any ParsableCommand.Type, [String]) = (RootCommand.self, ["vaultctl"])
        for word in arguments {
            let known = command.configuration.subcommands
            guard let next = known.first(where: { $0.configuration.commandName == word }) else { break }
            command = next
            words.append(word)
        }
        return words.joined(separator: " ")
    }

    private static func name(of uid: uid_t) -> String? {
        var (entry, found) = unsafe (passwd(), nil as UnsafeMutablePointer<passwd>?)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(uid, &entry, start, buffer.count, &found) == 0, unsafe found != nil,
                let name = unsafe entry.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }

    private static var host: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { buffer in
            // Not terminated if it was truncated.
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe gethostname(start, buffer.count - 1) == 0 else {
                return "unknown"
            }
            return unsafe String(cString: start)
        }
    }
}
