//! Categories, their departments and attributes (API document, "Listings (items) and categories"). The recommended
//! way: search a leaf, read its attributes, combine the variant ones, then draft a listing.

mod attributes;
mod combine;

use espelho_model::{
    CategoryId, DepartmentId, RawJson,
    listing::{Category, Department},
};
use serde_json::value::RawValue;

pub use self::{
    attributes::{AttributeQuery, Attributes, Only},
    combine::{AttributeId, Combination, Combinations},
};
use super::paging::with_parameters;
use crate::{
    ApiRequest, Error, Invalid, RowPage,
    resources::answer::raw,
    resources::handles::CategoriesApi,
    wire::{
        fields::{FieldReader, object},
        shape,
    },
};

const SEARCH: &str = "/api/categories/search";
const BROWSE: &str = "/api/categories/browse";
/// The API's own spelling.
const DEPARTMENTS: &str = "/api/categories/departaments";

/// A search among the leaf categories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategorySearch {
    search: String,
    department: Option<DepartmentId>,
}

impl CategorySearch {
    /// Searches for words, in one department or in all.
    ///
    /// # Errors
    /// When there are no words.
    pub fn new(search: impl Into<String>, department: Option<DepartmentId>) -> Result<Self, Invalid> {
        let search = search.into();
        match search.trim().is_empty() {
            true => Err(Invalid::Missing { field: "search" }),
            false => Ok(Self { search, department }),
        }
    }

    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        let department = self.department.clone().map(DepartmentId::into_string);
        let parameters = [("search", Some(self.search.clone())), ("departament_id", department)];
        with_parameters(ApiRequest::get(SEARCH, &[]), parameters)
    }
}

/// One level of the category tree. The document names no parameters, so [`CategoryLevel::parameter`] sets the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryLevel {
    /// The category whose children are listed; `None` for the top.
    pub parent: Option<CategoryId>,
    /// The name of the parameter for the parent.
    pub parameter: String,
}

impl Default for CategoryLevel {
    fn default() -> Self {
        Self { parent: None, parameter: "parent_id".into() }
    }
}

impl CategoryLevel {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        let parent = self.parent.map(|parent| parent.to_string());
        ApiRequest::get(BROWSE, &[]).query(parent.as_deref().map(|id| (self.parameter.as_str(), id)))
    }
}

impl CategoriesApi<'_> {
    /// Searches leaf categories by words.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn search(self, search: &CategorySearch) -> Result<RowPage<Category>, Error> {
        self.requests.fetch_rows(&search.request(), category_row).await
    }

    /// Reads one level of the category tree.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn browse(self, level: &CategoryLevel) -> Result<RowPage<Category>, Error> {
        self.requests.fetch_rows(&level.request(), category_row).await
    }

    /// Reads the departments.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn departments(self) -> Result<RowPage<Department>, Error> {
        self.requests.fetch_rows(&ApiRequest::get(DEPARTMENTS, &[]), department_row).await
    }
}

shape! { CategoryWire { id, parent_id, name, hierarchy } }
shape! { DepartmentWire { id, name, icon_svg } }

/// Reads a category: a row of a list, or the category of a listing.
pub(super) fn category_row(read: &mut FieldReader, row: &RawValue) -> Option<Category> {
    let wire: CategoryWire<'_> = object(row.get()).ok()?;
    Some(Category {
        id: CategoryId::new(read.integer("category.id", wire.id)?),
        parent_id: read.text("category.parent_id", wire.parent_id),
        name: read.text("category.name", wire.name),
        hierarchy: raw(wire.hierarchy),
        raw: RawJson::new(row.get()),
    })
}

/// Reads a department: a row of a list, or the department of a listing.
pub(super) fn department_row(read: &mut FieldReader, row: &RawValue) -> Option<Department> {
    let wire: DepartmentWire<'_> = object(row.get()).ok()?;
    Some(Department {
        id: DepartmentId::new(read.id("department.id", wire.id)?),
        name: read.text("department.name", wire.name),
        icon_svg: read.text("department.icon_svg", wire.icon_svg),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::wire::{outward::sent, rows};

    fn utc() -> FixedOffset {
        FixedOffset::east_opt(0).unwrap()
    }

    // proves: LST-001, LST-002
    #[test]
    fn leaf_categories_are_searched_by_words_and_department() {
        let search = CategorySearch::new("café em pó", Some(DepartmentId::new("3"))).unwrap();
        assert_eq!(
            sent(&search.request()),
            "GET /api/categories/search?search=caf%C3%A9%20em%20p%C3%B3&departament_id=3"
        );
        let everywhere = CategorySearch::new("caneca", None).unwrap();
        assert_eq!(sent(&everywhere.request()), "GET /api/categories/search?search=caneca");
        assert_eq!(CategorySearch::new("  ", None), Err(Invalid::Missing { field: "search" }));
    }

    // proves: LST-004
    #[test]
    fn the_tree_is_walked_from_the_top_and_from_a_parent() {
        let top = CategoryLevel::default();
        assert_eq!(sent(&top.request()), "GET /api/categories/browse");
        let below = CategoryLevel { parent: Some(CategoryId::new(12)), ..top };
        assert_eq!(sent(&below.request()), "GET /api/categories/browse?parent_id=12");
    }

    // proves: LST-005
    #[test]
    fn categories_and_departments_are_read_from_bare_and_named_lists() {
        let rows = r#"[{"id":12,"parent_id":null,"name":"Cafés","hierarchy":[{"id":1}]},{"id":"13","parent_id":12,"name":"Em pó"},{"name":"?"}]"#;
        for body in [format!(r#"{{"data":{rows}}}"#), format!(r#"{{"data":{{"categories":{rows}}}}}"#)] {
            let page = rows::parse(body.as_bytes(), utc(), category_row).unwrap();
            let ids: Vec<_> =
                page.rows.iter().map(|row| (row.value.id.as_i64(), row.value.parent_id.as_deref())).collect();
            assert_eq!((ids, page.rows_without_id), (vec![(12, None), (13, Some("12"))], 1));
            assert_eq!(page.rows[0].value.hierarchy.as_ref().unwrap().as_str(), r#"[{"id":1}]"#);
        }
        let body = r#"{"success":true,"data":[{"id":3,"name":"Mercado","icon_svg":"<svg/>"}]}"#;
        let page = rows::parse(body.as_bytes(), utc(), department_row).unwrap();
        let department = &page.rows[0].value;
        assert_eq!((department.id.as_str(), department.icon_svg.as_deref()), ("3", Some("<svg/>")));
        assert_eq!(ApiRequest::get(DEPARTMENTS, &[]).describe(), "GET /api/categories/departaments");
    }
}
