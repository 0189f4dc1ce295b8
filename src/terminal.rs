//! Text from elsewhere, made safe to print and to show on a page.
//!
//! Names in PGN files and lines of other engines may hold control characters, which would move
//! the cursor, change colours or reorder what a terminal shows.

use std::borrow::Cow;

/// The text with control characters and changes of writing direction escaped.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let escape = |letter: char| match letter {
        letter if is_unsafe(letter) => letter.escape_unicode().to_string(),
        letter => letter.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// The text as it stands in a page: no character of it is read as HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Whether a terminal would act on the letter instead of showing it.
pub fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_letters_kept() {
        assert_eq!(
            printable("Vázquez-Fernández 象棋"),
            "Vázquez-Fernández 象棋"
        );
        assert_eq!(printable("\u{1b}[31mred"), "\\u{1b}[31mred");
        assert_eq!(
            printable("a\r\u{7}\u{9b}\u{202e}b"),
            "a\\u{d}\\u{7}\\u{9b}\\u{202e}b"
        );
    }
}
