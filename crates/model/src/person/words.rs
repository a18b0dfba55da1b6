//! The names of members that tell of a person, small and without punctuation, in both languages.

/// Objects about a person.
pub(super) const PEOPLE: &[&str] = &[
    "buyer",
    "cliente",
    "client",
    "comprador",
    "consignee",
    "consumer",
    "consumidor",
    "contact",
    "contacts",
    "customer",
    "customers",
    "destinatario",
    "metadata",
    "payer",
    "pagador",
    "receiver",
    "recebedor",
    "recipient",
];
/// Objects of people who need not be the buyer: what is in them identifies nobody.
pub(super) const OTHERS: &[&str] = &["client", "contact", "contacts", "metadata", "pagador", "payer"];
/// Addresses, which are a person's unless they are within a business.
pub(super) const ADDRESSES: &[&str] = &[
    "address",
    "addresses",
    "billing",
    "billingaddress",
    "customeraddress",
    "deliveryaddress",
    "endereco",
    "enderecos",
    "enderecoentrega",
    "shippingaddress",
];
/// Objects about a business: the store, the carrier, the place where goods are picked up.
pub(super) const BUSINESSES: &[&str] = &[
    "carrier",
    "company",
    "emitente",
    "emitter",
    "issuer",
    "origin",
    "physicalstore",
    "pickupaddress",
    "pickuplocation",
    "pickuppoint",
    "salesagent",
    "seller",
    "sender",
    "soldby",
    "store",
];
/// Objects about goods, which have names and descriptions of their own.
pub(super) const GOODS: &[&str] = &["items", "itemspreview", "lines", "product", "products"];
/// Objects that people write: of their texts some are called as those of goods are.
pub(super) const REPORTS: &[&str] = &["conversation", "conversations", "occurrence", "occurrences"];
/// The names of such texts.
pub(super) const TITLES: &[&str] = &["assunto", "subject", "title", "titulo"];
/// The names of a city.
pub(super) const CITIES: &[&str] = &["cidade", "city", "municipality", "municipio"];
/// Members of a person or an address that stay.
pub(super) const KEPT: &[&str] = &[
    "city",
    "cidade",
    "country",
    "countrycode",
    "estado",
    "municipality",
    "municipio",
    "pais",
    "state",
    "statecode",
    "type",
    "uf",
];
/// Members of an address that is recognized by one of [`STREETS`].
pub(super) const OF_ADDRESS: &[&str] = &[
    "bairro",
    "cep",
    "complement",
    "complemento",
    "district",
    "line1",
    "line2",
    "logradouro",
    "name",
    "neighborhood",
    "neighbourhood",
    "nome",
    "number",
    "numero",
    "postalcode",
    "postcode",
    "reference",
    "referencia",
    "rua",
    "street",
    "streetname",
    "streetnumber",
    "zip",
    "zipcode",
];
/// Members that make an object an address, whatever it is called.
pub(super) const STREETS: &[&str] = &[
    "bairro",
    "cep",
    "logradouro",
    "neighborhood",
    "neighbourhood",
    "postalcode",
    "postcode",
    "rua",
    "street",
    "streetname",
    "zip",
    "zipcode",
];
/// Prefixes of loose members about a person: `customer_name`, `recipient_phone`.
pub(super) const PREFIXES: &[&str] = &[
    "buyer",
    "client",
    "comprador",
    "consignee",
    "customer",
    "destinatario",
    "payer",
    "receiver",
    "recipient",
];
/// Parts of names of members that are a person's wherever they stand.
pub(super) const PARTS: &[&str] = &["celular", "cpf", "email", "phone", "telefone", "whatsapp"];
/// Texts that people write.
pub(super) const FREE_TEXTS: &[&str] = &[
    "authorname",
    "body",
    "description",
    "firstname",
    "fullname",
    "lastname",
    "nomecompleto",
    "reason",
    "xml",
];
/// Texts that people write, also about goods.
pub(super) const NOTES: &[&str] = &[
    "comment",
    "comments",
    "giftmessage",
    "instructions",
    "message",
    "mensagem",
    "note",
    "notes",
    "observacao",
    "observacoes",
    "observation",
    "observations",
    "personalization",
    "remark",
    "remarks",
];
