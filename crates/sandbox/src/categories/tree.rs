//! The categories: departments, their categories, and the leaves that listings belong to.

use std::{collections::HashMap, sync::LazyLock};

use super::attributes::{
    APPLIANCES, Attribute, BEAUTY, BOOKS, FASHION, FOOD, GENERAL, Kit, PHONES, SHOES, TOYS,
};

/// A department as it is written down: name, the path of its icon, and its categories with their leaves.
type Department = (&'static str, &'static str, &'static [(&'static str, &'static [(&'static str, Kit)])]);

const TREE: [Department; 8] = [
    (
        "Eletrônicos",
        "M4 5h16v11H4zM9 20h6",
        &[
            (
                "Celulares",
                &[("Smartphones", PHONES), ("Capas para celular", GENERAL), ("Carregadores", GENERAL)],
            ),
            ("Informática", &[("Notebooks", PHONES), ("Teclados", GENERAL), ("Mouses", GENERAL)]),
            ("Áudio", &[("Fones de ouvido", GENERAL), ("Caixas de som", GENERAL)]),
        ],
    ),
    (
        "Eletrodomésticos",
        "M6 3h12v18H6zM6 9h12",
        &[
            (
                "Cozinha elétrica",
                &[("Liquidificadores", APPLIANCES), ("Cafeteiras", APPLIANCES), ("Fritadeiras", APPLIANCES)],
            ),
            ("Climatização", &[("Ventiladores", APPLIANCES), ("Umidificadores", APPLIANCES)]),
        ],
    ),
    (
        "Casa e Decoração",
        "M3 12l9-8 9 8v9H3z",
        &[
            (
                "Cama, mesa e banho",
                &[("Jogos de cama", GENERAL), ("Toalhas", GENERAL), ("Travesseiros", GENERAL)],
            ),
            ("Móveis", &[("Cadeiras", GENERAL), ("Estantes", GENERAL)]),
            ("Utensílios", &[("Panelas", GENERAL), ("Potes", GENERAL)]),
        ],
    ),
    (
        "Moda",
        "M8 4l4 3 4-3 4 4-3 3v10H7V11L4 8z",
        &[
            ("Roupas", &[("Camisetas", FASHION), ("Calças", FASHION), ("Vestidos", FASHION)]),
            ("Calçados", &[("Tênis", SHOES), ("Sandálias", SHOES)]),
            ("Acessórios", &[("Bolsas", GENERAL), ("Relógios", GENERAL)]),
        ],
    ),
    (
        "Beleza e Saúde",
        "M12 21s-8-5-8-11a4 4 0 018-2 4 4 0 018 2c0 6-8 11-8 11z",
        &[
            ("Perfumaria", &[("Perfumes", BEAUTY), ("Hidratantes", BEAUTY)]),
            ("Cabelos", &[("Shampoos", BEAUTY), ("Secadores de cabelo", APPLIANCES)]),
        ],
    ),
    (
        "Alimentos e Bebidas",
        "M7 3h10l-1 18H8z",
        &[
            ("Mercearia", &[("Cafés", FOOD), ("Chocolates", FOOD), ("Suplementos", FOOD)]),
            ("Bebidas", &[("Sucos", FOOD), ("Chás", FOOD)]),
        ],
    ),
    (
        "Brinquedos e Bebês",
        "M12 3a5 5 0 100 10 5 5 0 000-10zM5 21h14",
        &[
            ("Brinquedos", &[("Bonecas", TOYS), ("Jogos de tabuleiro", TOYS), ("Blocos de montar", TOYS)]),
            ("Bebês", &[("Carrinhos de bebê", TOYS), ("Roupas de bebê", FASHION)]),
        ],
    ),
    (
        "Livros e Papelaria",
        "M4 4h7v16H4zM13 4h7v16h-7z",
        &[
            ("Livros", &[("Romances", BOOKS), ("Livros infantis", BOOKS), ("Livros técnicos", BOOKS)]),
            ("Papelaria", &[("Cadernos", GENERAL), ("Canetas", GENERAL)]),
        ],
    ),
];

/// A place in the tree.
#[derive(Debug)]
pub(crate) struct Category {
    pub(crate) id: u32,
    /// `None` for a department.
    pub(crate) parent: Option<u32>,
    pub(crate) department: u32,
    pub(crate) name: &'static str,
    /// The names from the department down to here.
    pub(crate) hierarchy: String,
    /// The path of the icon, which departments have.
    icon: &'static str,
    /// Only leaves have attributes, and every leaf does.
    pub(crate) attributes: &'static [Attribute],
}

impl Category {
    pub(crate) fn is_leaf(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// The icon as a whole SVG text.
    pub(crate) fn icon_svg(&self) -> String {
        let path = self.icon;
        format!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="{path}"/></svg>"#)
    }
}

/// Every category, each after the one above it.
static ALL: LazyLock<Vec<Category>> = LazyLock::new(build);

static BY_ID: LazyLock<HashMap<u32, usize>> =
    LazyLock::new(|| ALL.iter().enumerate().map(|(at, category)| (category.id, at)).collect());

/// Departments are 1, 2 …, their categories 101, 102 …, and the leaves of those 10101, 10102 ….
fn build() -> Vec<Category> {
    let mut all = Vec::new();
    for (department, (name, icon, categories)) in (1_u32..).zip(&TREE) {
        let place = |id, parent, name, hierarchy, attributes| Category {
            id,
            parent,
            department,
            name,
            hierarchy,
            icon,
            attributes,
        };
        all.push(place(department, None, *name, (*name).to_owned(), &[]));
        for (category, (middle, leaves)) in (department * 100 + 1..).zip(*categories) {
            let path = format!("{name} > {middle}");
            all.push(place(category, Some(department), *middle, path.clone(), &[]));
            for (leaf, (end, kit)) in (category * 100 + 1..).zip(*leaves) {
                all.push(place(leaf, Some(category), *end, format!("{path} > {end}"), *kit));
            }
        }
    }
    all
}

pub(crate) fn all() -> &'static [Category] {
    &ALL
}

pub(crate) fn find(id: u32) -> Option<&'static Category> {
    BY_ID.get(&id).map(|at| &ALL[*at])
}

/// The category that the text of an identifier names.
pub(crate) fn named(id: &str) -> Option<&'static Category> {
    id.parse().ok().and_then(find)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_identifier_names_one_category_and_every_parent_is_there() {
        assert_eq!(BY_ID.len(), ALL.len());
        for category in all() {
            assert_eq!(find(category.id).unwrap().name, category.name);
            assert!(find(category.department).unwrap().parent.is_none());
            assert!(category.parent.is_none_or(|parent| find(parent).is_some_and(|above| !above.is_leaf())));
        }
        assert_eq!(all().iter().filter(|category| category.parent.is_none()).count(), 8);
        assert!(all().iter().filter(|category| category.is_leaf()).count() >= 40);
    }

    #[test]
    fn attributes_of_a_leaf_are_distinct_and_the_combinable_ones_have_lists() {
        for leaf in all().iter().filter(|category| category.is_leaf()) {
            let ids: HashSet<u32> = leaf.attributes.iter().map(|attribute| attribute.id).collect();
            assert_eq!(ids.len(), leaf.attributes.len(), "{}", leaf.name);
            for attribute in leaf.attributes.iter().filter(|attribute| attribute.is_combinable) {
                assert!(attribute.is_variant && attribute.options().count() > 1, "{}", attribute.name);
            }
        }
    }
}
