import Glibc

/// The names in a directory.
package enum Directory {
    /// All of them, in no order; `.` and `..` too.
    package static func names(in path: String) throws(SystemError) -> [String] {
        guard let stream = unsafe opendir(path) else { throw .last }
        return unsafe names(in: stream)
    }

    /// Of a directory that is open.
    package static func names(in directory: some OpenDescriptor) throws(SystemError) -> [String] {
        // The stream takes its descriptor over, and closes it.
        let number = unsafe openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        guard let stream = unsafe fdopendir(number) else {
            let error = SystemError.last
            _ = close(number)
            throw error
        }
        return unsafe names(in: stream)
    }

    private static func names(in stream: OpaquePointer) -> [String] {
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }

    /// The absolute path of the one that this process is in.
    static func current() throws(SystemError) -> String {
        guard let path = unsafe getcwd(nil, 0) else { throw .last }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Makes one of mode 0700 in another one, under a name of its own that begins so. Gives its path.
    package static func makeTemporary(in parent: String, named prefix: String) throws(SystemError) -> String {
        var template = Array((parent + "/" + prefix + "XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .last }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes the names in it durable.
    package static func synchronize(_ path: String) throws(SystemError) {
        try Descriptor(path, for: .reading, .directory).synchronize()
    }
}

extension OpenDescriptor {
    /// Removes what has this name in an open directory.
    package func remove(_ name: String) throws(SystemError) {
        guard unsafe unlinkat(number, name, 0) == 0 else { throw .last }
    }

    /// What a symbolic link in an open directory says.
    func target(ofLink name: String) throws(SystemError) -> String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let size = bytes.count
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return -1 }
            return unsafe readlinkat(number, name, start, size)
        }
        guard count >= 0 else { throw .last }
        guard count > 0, count < size else { throw .nameTooLong }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Gives a file that has no name its first one.
    func giveName(_ path: String) throws(SystemError) {
        guard unsafe linkat(AT_FDCWD, "/proc/self/fd/\(number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
            throw .last
        }
    }
}
