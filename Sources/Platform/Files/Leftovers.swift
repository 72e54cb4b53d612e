/// Files that processes left behind when they were killed before they could give them a name: `PREFIX….<id>SUFFIX`,
/// with an id of 26 characters. A process that is working on such a file holds a lock on it.
package struct Leftovers {
    let directory: String
    let prefix: String
    let suffix: String
    /// Endings of other files that may be there under the same name.
    let companions: [String]

    package init(in directory: String, of prefix: String, suffix: String, companions: [String] = []) {
        self.directory = directory
        self.prefix = prefix
        self.suffix = suffix
        self.companions = companions
    }

    package func remove() {
        guard let names = try? Directory.names(in: directory) else { return }
        for name in names {
            guard name.hasPrefix(prefix), name.hasSuffix(suffix),
                let id = name.dropLast(suffix.count).split(separator: ".").last, RandomName.isOne(id)
            else { continue }
            removeIfLeft("\(directory)/\(name)")
        }
    }

    private func removeIfLeft(_ path: String) {
        do throws(SystemError) {
            let file = try Descriptor(path, for: .reading, [.notThroughLink, .withoutWaiting, .notOurTerminal])
            let status = try file.status()
            guard status.kind == .regular, status.isOurs else { return }
            try file.lockWhole()
            for companion in [""] + companions { NamedFile(path + companion).discard() }
            withExtendedLifetime(file) {}
        } catch {
            return
        }
    }
}
