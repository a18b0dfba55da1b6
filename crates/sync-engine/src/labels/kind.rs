//! Checks whether a file has the kind that the label's format requires (API document, "Label": file kinds). Pure.

use espelho_model::shipment::FileKind;

/// Bytes that are checked at the beginning and at the end.
const LOOKED_AT: usize = 1024;

/// The beginning and the end of a file that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct FileEnds {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl FileEnds {
    /// Adds the next piece.
    pub(crate) fn take(&mut self, piece: &[u8]) {
        let missing = LOOKED_AT.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..missing]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(LOOKED_AT)..]);
        let before = self.tail.len().saturating_sub(LOOKED_AT);
        self.tail.drain(..before);
    }

    /// Returns what is wrong with the file. If the storage did not report its length, its end must be there as well.
    pub(crate) fn check(&self, wanted: FileKind, has_length: bool) -> Result<(), &'static str> {
        let head = text(&self.head);
        if head.is_empty() {
            return Err("it is empty");
        }
        let begins = match wanted {
            FileKind::Pdf => head.starts_with("%pdf-"),
            // Printer drivers set up the printer first.
            FileKind::Zpl => head.contains("^xa") && !head.starts_with('<'),
            FileKind::Html => {
                let is_other = ["<?xml", "<error", "<svg"].iter().any(|other| head.starts_with(other));
                head.starts_with('<') && !is_other
            }
        };
        if !begins {
            return Err("it begins otherwise");
        }
        let end = match wanted {
            FileKind::Pdf => "%%eof",
            FileKind::Zpl => "^xz",
            FileKind::Html => "</html",
        };
        if has_length || text(&self.tail).contains(end) { Ok(()) } else { Err("its end is missing") }
    }
}

/// Returns bytes as text in lower case, without a byte order mark and leading white space.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    text.trim_start_matches('\u{feff}').trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(wanted: FileKind, has_length: bool, pieces: &[&[u8]]) -> Result<(), &'static str> {
        let mut ends = FileEnds::default();
        pieces.iter().for_each(|piece| ends.take(piece));
        ends.check(wanted, has_length)
    }

    #[test]
    fn each_kind_begins_as_it_must_and_nothing_passes_for_another() {
        let files: [(FileKind, &[u8]); 7] = [
            (FileKind::Pdf, b"%PDF-1.7\n..."),
            (FileKind::Pdf, b"\r\n%PDF-1.4\n..."),
            (FileKind::Zpl, b"^XA^FO10^FS^XZ"),
            (FileKind::Zpl, b"\xef\xbb\xbf\r\nCT~~CD,~CC^~CT~\n^XA..."),
            (FileKind::Html, b"<!DOCTYPE html><html>"),
            (FileKind::Html, b"\xef\xbb\xbf  <HTML lang=pt>"),
            (FileKind::Html, b"<div class=etiqueta>"),
        ];
        for (kind, bytes) in files {
            for wanted in [FileKind::Pdf, FileKind::Zpl, FileKind::Html] {
                assert_eq!(checked(wanted, true, &[bytes]).is_ok(), wanted == kind, "{wanted:?} {bytes:?}");
            }
        }
        for wanted in [FileKind::Pdf, FileKind::Zpl, FileKind::Html] {
            for bytes in
                [&b""[..], b" \n", b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", b"{}"]
            {
                assert!(checked(wanted, true, &[bytes]).is_err(), "{wanted:?} {bytes:?}");
            }
        }
    }

    #[test]
    fn a_file_of_unknown_length_must_have_its_end() {
        for (wanted, whole) in [
            (FileKind::Pdf, &b"%PDF-1.4\nxref\n%%EOF\n"[..]),
            (FileKind::Zpl, b"^XA^FO1^XZ\n"),
            (FileKind::Html, b"<html><p>x</p></html>\n"),
        ] {
            assert_eq!(checked(wanted, false, &[whole]), Ok(()));
            let cut = &whole[..whole.len() - 6];
            assert_eq!(checked(wanted, false, &[cut]), Err("its end is missing"), "{wanted:?}");
            assert_eq!(checked(wanted, true, &[cut]), Ok(()));
        }
    }

    #[test]
    fn pieces_of_any_size_show_the_same() {
        let mut file = b"%PDF-1.4\n".to_vec();
        file.extend(vec![b'x'; 5_000]);
        file.extend(b"%%EOF\n");
        for size in [1, 3, 1_000, 1_024, 4_096, 9_999] {
            let pieces: Vec<&[u8]> = file.chunks(size).collect();
            assert_eq!(checked(FileKind::Pdf, false, &pieces), Ok(()), "{size}");
        }
    }
}
