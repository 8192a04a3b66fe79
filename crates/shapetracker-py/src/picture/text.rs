//! Text: numbers as the field writes them, kept short, and nothing that could be read as markup.

use shapetracker::text;

/// Numbers the way Python writes a tuple.
pub(super) fn tuple(numbers: &[i64]) -> String {
    text::tuple(numbers).to_string()
}

/// Ranges the way Python writes a tuple of pairs.
pub(super) fn tuple_of_pairs(ranges: &[(i64, i64)]) -> String {
    text::tuple_of_pairs(ranges).to_string()
}

/// Text without the characters that markup is made of.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// At most so many characters of a text, the last of them an ellipsis if something is missing.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A number in at most so many characters: its first and its last digits when it is longer.
pub(super) fn short(number: i64, most: usize) -> String {
    let text = number.to_string();
    if text.len() <= most {
        return text;
    }
    let head = (most - 1) / 2;
    let tail = text.len() - (most - 1 - head);
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Text in lines that are at most about so wide, in a font of size 12; broken at spaces, or anywhere in a long word.
pub(super) fn wrapped(text: &str, room: i64) -> Vec<String> {
    let room = room as f64;
    let mut lines = vec![String::new()];
    let mut used = 0.0;
    for word in text.split_inclusive(' ') {
        if used > 0.0 && used + width(word.trim_end()) > room {
            lines.push(String::new());
            used = 0.0;
        }
        for character in word.chars() {
            if used + advance(character) > room && character != ' ' {
                lines.push(String::new());
                used = 0.0;
            }
            used += advance(character);
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
        }
    }
    lines
}

/// About how wide a text is in a wide font of size 12.
fn width(text: &str) -> f64 {
    text.chars().map(advance).sum()
}

fn advance(character: char) -> f64 {
    match character {
        '0'..='9' => 7.7,
        ' ' | ',' | '.' | ':' | '(' | ')' | '[' | ']' | '-' => 4.6,
        _ => 7.2,
    }
}
