package import Platform

extension StoreError {
    package static var ownershipLost: StoreError {
        if ForkGuard.isForked {
            return StoreError(
                .ownershipLost, "this process was forked off one that had the vault open, and must not use it",
                hint: "open the vault after the fork, or let the child start a program of its own (exec)")
        }
        return StoreError(
            .ownershipLost, "something in this process closed descriptors of the vault",
            hint: "restart it, and find what closes files that it did not open (closefrom, close_range)")
    }
}

extension StoreError.Code {
    /// What the operating system answered.
    package static func io(_ error: SystemError) -> StoreError.Code { .io(error.number) }
}
