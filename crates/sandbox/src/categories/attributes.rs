//! The attributes of categories: what a listing says of its goods, and what its variations differ by.

/// The section of the form that an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Main,
    Sheet,
    Variation,
}

impl Section {
    pub(super) const ALL: [Self; 3] = [Self::Main, Self::Sheet, Self::Variation];

    /// The name for people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Main => "Características principais",
            Self::Sheet => "Ficha técnica",
            Self::Variation => "Variações",
        }
    }
}

/// The values that an attribute may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values {
    /// One of these; the first has the identifier `<attribute> * 100 + 1`.
    List(&'static [&'static str]),
    Text,
    /// A number of this unit, which is empty where it only counts.
    Number(&'static str),
    Boolean,
}

/// One attribute. Those that can be combined have lists of values.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) id: u32,
    pub(crate) name: &'static str,
    pub(crate) section: Section,
    pub(crate) is_required: bool,
    /// Whether variations differ by it; it is a feature otherwise.
    pub(crate) is_variant: bool,
    pub(crate) is_combinable: bool,
    pub(crate) values: Values,
}

impl Attribute {
    const fn main(id: u32, name: &'static str, values: Values) -> Self {
        Self {
            id,
            name,
            section: Section::Main,
            is_required: false,
            is_variant: false,
            is_combinable: false,
            values,
        }
    }

    const fn sheet(id: u32, name: &'static str, values: Values) -> Self {
        Self { section: Section::Sheet, ..Self::main(id, name, values) }
    }

    const fn variant(id: u32, name: &'static str, values: &'static [&'static str]) -> Self {
        Self {
            section: Section::Variation,
            is_variant: true,
            is_combinable: true,
            ..Self::main(id, name, Values::List(values))
        }
    }

    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The values of a list with their identifiers; none for other attributes.
    pub(crate) fn options(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let names = if let Values::List(names) = self.values { names } else { &[] };
        (self.id * 100 + 1..).zip(names.iter().copied())
    }
}

const BRAND: Attribute = Attribute::main(10, "Marca", Values::Text).required();
const MODEL: Attribute = Attribute::main(11, "Modelo", Values::Text);
const ORIGIN: Attribute = Attribute::main(12, "Origem", Values::List(&["Nacional", "Importado"]));
const WARRANTY: Attribute = Attribute::sheet(13, "Garantia", Values::Number("meses"));
const MATERIAL: Attribute = Attribute::sheet(14, "Material", Values::Text);
const GENDER: Attribute =
    Attribute::main(15, "Gênero", Values::List(&["Feminino", "Masculino", "Sem gênero", "Infantil"]));
const AUTHOR: Attribute = Attribute::main(16, "Autor", Values::Text).required();
const PUBLISHER: Attribute = Attribute::main(17, "Editora", Values::Text).required();
const PAGES: Attribute = Attribute::sheet(18, "Número de páginas", Values::Number(""));
const PERISHABLE: Attribute = Attribute::sheet(19, "Perecível", Values::Boolean);
const AGE: Attribute = Attribute::sheet(20, "Idade mínima", Values::Number("anos"));
const CONTENT: Attribute = Attribute::sheet(21, "Conteúdo da embalagem", Values::Text);

const COLOR: Attribute = Attribute::variant(
    30,
    "Cor",
    &["Preto", "Branco", "Azul", "Vermelho", "Verde", "Amarelo", "Rosa", "Cinza"],
);
const SIZE: Attribute = Attribute::variant(31, "Tamanho", &["PP", "P", "M", "G", "GG", "XG"]).required();
const SHOE_SIZE: Attribute = Attribute::variant(
    32,
    "Numeração",
    &["33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44"],
)
.required();
const VOLTAGE: Attribute = Attribute::variant(33, "Voltagem", &["110V", "220V", "Bivolt"]).required();
const STORAGE: Attribute = Attribute::variant(34, "Armazenamento", &["64 GB", "128 GB", "256 GB", "512 GB"]);
const FLAVOR: Attribute = Attribute::variant(35, "Sabor", &["Natural", "Chocolate", "Morango", "Baunilha"]);
const VOLUME: Attribute = Attribute::variant(36, "Volume", &["50 ml", "100 ml", "250 ml", "500 ml", "1 L"]);

/// The attributes of one kind of goods.
pub(super) type Kit = &'static [Attribute];

pub(super) const GENERAL: Kit = &[BRAND, MODEL, ORIGIN, WARRANTY, MATERIAL, COLOR];
pub(super) const PHONES: Kit = &[BRAND, MODEL, ORIGIN, WARRANTY, COLOR, STORAGE];
pub(super) const APPLIANCES: Kit = &[BRAND, MODEL, ORIGIN, WARRANTY, VOLTAGE, COLOR];
pub(super) const FASHION: Kit = &[BRAND, GENDER, MATERIAL, COLOR, SIZE];
pub(super) const SHOES: Kit = &[BRAND, GENDER, MATERIAL, COLOR, SHOE_SIZE];
pub(super) const BOOKS: Kit = &[AUTHOR, PUBLISHER, PAGES];
pub(super) const FOOD: Kit = &[BRAND, ORIGIN, PERISHABLE, CONTENT, FLAVOR];
pub(super) const BEAUTY: Kit = &[BRAND, GENDER, CONTENT, VOLUME];
pub(super) const TOYS: Kit = &[BRAND, MODEL, AGE, MATERIAL, COLOR];
