//! PDF by hand: one page of text, with the cross-reference table that every reader looks for first.

/// Width and height in points, of which an inch has 72.
pub(super) const A4: (u32, u32) = (595, 842);
pub(super) const FOUR_BY_SIX: (u32, u32) = (288, 432);

const MARGIN: u32 = 24;
const LEADING: u32 = 20;

/// A page with these lines of text.
pub(super) fn page((width, height): (u32, u32), lines: &[String]) -> Vec<u8> {
    let content = content(height, lines);
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> >>"
        )
        .into_bytes(),
    ];
    let mut stream = format!("<< /Length {} >>\nstream\n", content.len()).into_bytes();
    stream.extend(content);
    stream.extend_from_slice(b"\nendstream");
    objects.push(stream);
    objects
        .push(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec());
    file(&objects)
}

/// The drawing operators of the page: one line of text under another, from the top.
fn content(height: u32, lines: &[String]) -> Vec<u8> {
    let mut content =
        format!("BT\n/F1 12 Tf\n{LEADING} TL\n{MARGIN} {} Td\n", height - MARGIN - LEADING).into_bytes();
    for line in lines {
        content.push(b'(');
        for c in line.chars() {
            push(&mut content, c);
        }
        content.extend_from_slice(b") Tj T*\n");
    }
    content.extend_from_slice(b"ET");
    content
}

/// A sign of a text in parentheses. WinAnsi is Latin-1 as far as Portuguese goes; what lies beyond is a question mark.
fn push(content: &mut Vec<u8>, c: char) {
    match u8::try_from(u32::from(c)) {
        Ok(byte @ (b'(' | b')' | b'\\')) => content.extend_from_slice(&[b'\\', byte]),
        Ok(byte @ (0x20..=0x7E | 0xA0..)) => content.push(byte),
        _ => content.push(b'?'),
    }
}

/// The objects, numbered from 1, with header, cross-reference table and trailer.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    // Bytes above 127 in the first comment mark the file as binary.
    let mut file = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        table += &format!("{:010} 00000 n \n", file.len());
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    let trailer =
        format!("{table}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.extend_from_slice(trailer.as_bytes());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        vec!["Pedido: 1 (um) \\".to_owned(), "João 漢".to_owned()]
    }

    /// Where a text is in the bytes.
    fn find(file: &[u8], text: &[u8]) -> Option<usize> {
        file.windows(text.len()).position(|window| window == text)
    }

    #[test]
    fn the_table_names_the_place_of_every_object() {
        let file = page(A4, &lines());
        let table = find(&file, b"xref\n0 ").unwrap();
        let text = String::from_utf8(file[table..].to_vec()).unwrap();
        let entries: Vec<&str> = text.lines().skip(2).take_while(|line| *line != "trailer").collect();
        assert_eq!(entries.len(), 6);
        assert_eq!(entries[0], "0000000000 65535 f ");
        for (number, entry) in (1..).zip(&entries[1..]) {
            let at: usize = entry[..10].parse().unwrap();
            assert!(file[at..].starts_with(format!("{number} 0 obj\n").as_bytes()), "{entry}");
        }
        assert!(text.ends_with(&format!("startxref\n{table}\n%%EOF\n")));
    }

    #[test]
    fn the_stream_is_as_long_as_it_says() {
        let file = page(FOUR_BY_SIX, &lines());
        let start = find(&file, b"stream\n").unwrap() + 7;
        let end = find(&file, b"\nendstream").unwrap();
        let length = format!("<< /Length {} >>\nstream", end - start);
        assert!(find(&file, length.as_bytes()).is_some());
        assert!(find(&file, b"/MediaBox [0 0 288 432]").is_some());
    }

    #[test]
    fn text_is_escaped_and_encoded() {
        let file = page(A4, &lines());
        assert!(find(&file, b"(Pedido: 1 \\(um\\) \\\\) Tj").is_some());
        assert!(find(&file, b"(Jo\xE3o ?) Tj").is_some());
    }
}
