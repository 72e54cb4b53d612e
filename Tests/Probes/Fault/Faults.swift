import CFaultVFS

/// The one plan of what goes wrong with the files of this process's vaults.
enum Faults {
    static func register() {
        guard fault_vfs_register() == 0 else { return say("FAIL the VFS cannot be registered") }
    }

    /// - Parameter count: 0 for ever.
    static func arm(
        _ operations: fault_operation..., files: fault_file_role = FAULT_ANY_FILE, first: Int, count: Int,
        action: fault_action = FAULT_FAIL, code: Int32 = 0
    ) {
        arm(
            operations: operations.reduce(0) { $0 | $1.rawValue }, files: files.rawValue, first: first, count: count,
            action: action, code: code)
    }

    static func arm(
        operations: UInt32, files: UInt32, first: Int, count: Int, action: fault_action, code: Int32
    ) {
        var plan = fault_plan(
            operations: operations, files: files, first: UInt64(first), count: UInt64(count), action: action,
            code: code)
        unsafe fault_vfs_arm(&plan)
    }

    /// How many operations were concerned.
    @discardableResult
    static func disarm() -> Int { Int(fault_vfs_disarm()) }
}
