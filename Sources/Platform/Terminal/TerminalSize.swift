import Glibc

extension OpenDescriptor {
    /// Columns of the terminal; nil if it is none, or does not say.
    package var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
