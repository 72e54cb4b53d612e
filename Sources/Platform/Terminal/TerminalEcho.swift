import Glibc

/// The echo of a terminal, which shows what is typed.
package struct TerminalEcho: Sendable {
    private let number: Int32
    private let original: termios

    /// Remembers how the terminal is; nil if it is none.
    package init?(of terminal: some OpenDescriptor) {
        var original = termios()
        guard unsafe tcgetattr(terminal.number, &original) == 0 else { return nil }
        number = terminal.number
        self.original = original
    }

    /// Turns it off, except for the line break. What was typed and not read is dropped.
    package func turnOff() {
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        unsafe tcsetattr(number, TCSAFLUSH, &silent)
    }

    /// Puts the terminal back as it was.
    package func restore() {
        var original = original
        unsafe tcsetattr(number, TCSAFLUSH, &original)
    }
}
