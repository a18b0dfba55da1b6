//! The content of a label, and its print in each format.

use super::{Format, pdf};
use crate::{orders::Order, people::Person, shipments::Shipment};

/// The template of pickup shipments, which the document names.
const PICKUP: &str = "pickup-default";

/// The template of all other shipments, which it does not.
const SHIPPING: &str = "shipping-default";

/// The content of a label, fixed when its generation begins.
#[derive(Debug)]
pub(crate) struct Paper {
    template: &'static str,
    order: Box<str>,
    tracking: Option<Box<str>>,
    recipient: Box<str>,
    place: Box<str>,
    sender: Box<str>,
}

impl Paper {
    /// The paper of a shipment that `sender` sends to `person`.
    pub(super) fn of(sender: &str, person: Option<&Person>, order: &Order, shipment: &Shipment) -> Self {
        let place = person.map(|person| format!("{} - {}", person.city, person.state));
        Self {
            template: if shipment.is_pickup() { PICKUP } else { SHIPPING },
            order: order.number.clone(),
            tracking: shipment.tracking_code.clone(),
            recipient: person
                .map_or_else(|| "Destinatário não informado".into(), |person| person.name.clone()),
            place: place.unwrap_or_default().into(),
            sender: sender.into(),
        }
    }

    /// Line by line, as every format shows it.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Pedido: {}", self.order)];
        lines.extend(self.tracking.as_ref().map(|code| format!("Rastreio: {code}")));
        lines.push(format!("Destinatário: {}", self.recipient));
        lines.push(self.place.to_string());
        lines.push(format!("Remetente: {}", self.sender));
        lines.push(format!("Modelo: {}", self.template));
        lines
    }
}

/// The bytes of a label file.
pub(crate) fn print(format: Format, paper: &Paper) -> Vec<u8> {
    match format {
        Format::A4 => pdf::page(pdf::A4, &paper.lines()),
        Format::ZebraPdf => pdf::page(pdf::FOUR_BY_SIX, &paper.lines()),
        Format::Zebra => zpl(paper).into_bytes(),
        Format::Thermal => html(paper).into_bytes(),
    }
}

/// A label of 4 by 6 inches at 203 dots an inch. `^CI28` says that the text is UTF-8.
fn zpl(paper: &Paper) -> String {
    let mut zpl = "^XA\n^CI28\n^PW812\n^LL1218\n".to_owned();
    for (at, line) in paper.lines().iter().enumerate() {
        zpl += &format!("^FO40,{}^A0N,36,36^FD{}^FS\n", 60 + at * 60, unmarked(line));
    }
    if let Some(code) = &paper.tracking {
        zpl += &format!("^FO40,600^BY3^BCN,160,Y,N,N^FD{}^FS\n", unmarked(code));
    }
    zpl + "^XZ\n"
}

/// Text without the two signs that begin a ZPL command.
fn unmarked(text: &str) -> String {
    text.replace(['^', '~'], " ").replace(char::is_control, " ")
}

fn html(paper: &Paper) -> String {
    let lines: String = paper.lines().iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"pt-BR\">\n<head>\n<meta charset=\"utf-8\">\n<title>Etiqueta {}</title>\n\
         <style>@page {{ size: 80mm auto; margin: 4mm }} p {{ font: 14px sans-serif; margin: 2px 0 }}</style>\n\
         </head>\n<body data-template=\"{}\">\n{lines}</body>\n</html>\n",
        escaped(&paper.order),
        paper.template
    )
}

/// Text as HTML and XML hold it.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Paper {
        Paper {
            template: SHIPPING,
            order: "0001<>&\"^~(1)\\".into(),
            tracking: Some("AA123456785BR".into()),
            recipient: "João d'Ávila".into(),
            place: "São Luís - MA".into(),
            sender: "Casa 漢字".into(),
        }
    }

    // proves: SHP-020, SHP-021, SHP-022
    #[test]
    fn every_format_is_what_it_is_called() {
        let text = |format| String::from_utf8(print(format, &paper())).unwrap();
        assert!(text(Format::Zebra).starts_with("^XA\n") && text(Format::Zebra).ends_with("^XZ\n"));
        assert!(text(Format::Thermal).starts_with("<!DOCTYPE html>"));
        for format in [Format::A4, Format::ZebraPdf] {
            let file = print(format, &paper());
            assert!(file.starts_with(b"%PDF-1.4\n") && file.ends_with(b"%%EOF\n"));
        }
    }

    #[test]
    fn a_label_shows_the_tracking_code_where_there_is_one() {
        let without = Paper { tracking: None, ..paper() };
        let shows =
            |format, paper: &Paper| print(format, paper).windows(13).any(|window| window == b"AA123456785BR");
        for format in [Format::A4, Format::Zebra, Format::Thermal, Format::ZebraPdf] {
            assert!(shows(format, &paper()) && !shows(format, &without), "{format:?}");
        }
    }

    #[test]
    fn what_is_printed_cannot_break_out_of_its_format() {
        let zpl = String::from_utf8(print(Format::Zebra, &paper())).unwrap();
        assert!(zpl.contains("^FDPedido: 0001<>&\"  (1)\\^FS"), "{zpl}");
        let html = String::from_utf8(print(Format::Thermal, &paper())).unwrap();
        assert!(html.contains("Pedido: 0001&lt;&gt;&amp;&quot;^~(1)\\</p>"), "{html}");
    }
}
