//! The paged of a listing: rows, and `meta` in the chosen shape.

use crate::{answer::Answer, json::Json, options::ListShape, query::Page};

/// A page of a listing, and what its `meta` shows.
pub(crate) struct PagedList<'a> {
    pub(crate) shape: ListShape,
    pub(crate) numbers_as_strings: bool,
    pub(crate) page: Page,
    pub(crate) total: usize,
    pub(crate) search: Option<&'a str>,
    /// The filters received, for the shape that repeats them.
    pub(crate) filters: &'a [(String, String)],
}

impl PagedList<'_> {
    /// The answer around the rows that `rows` writes.
    pub(crate) fn answer(&self, rows: impl FnOnce(&mut Json)) -> Answer {
        let mut json = Json::new(self.numbers_as_strings);
        json.open_object();
        json.key("success").bool(true);
        json.key("message_code").raw_text("SUCCESS");
        json.key("data");
        if self.shape == ListShape::Envelope {
            json.open_object();
            json.key("data");
        }
        json.open_array();
        rows(&mut json);
        json.close_array();
        json.key("meta").open_object();
        match self.shape {
            ListShape::Flat => self.counts(&mut json, "page", "limit"),
            ListShape::Laravel => self.counts(&mut json, "current_page", "per_page"),
            ListShape::Envelope => self.pagination(&mut json),
        }
        json.close_object();
        if self.shape == ListShape::Envelope {
            json.close_object();
        }
        json.close_object();
        Answer::json(200, json.into_bytes())
    }

    /// An empty listing still has a page 1.
    fn last_page(&self) -> usize {
        self.total.div_ceil(self.page.size).max(1)
    }

    fn counts(&self, json: &mut Json, page: &str, size: &str) {
        json.key(page).count(self.page.number as u64);
        json.key(size).count(self.page.size as u64);
        json.key("last_page").count(self.last_page() as u64);
        json.key("total").count(self.total as u64);
    }

    fn pagination(&self, json: &mut Json) {
        json.key("search_query").text(self.search.unwrap_or(""));
        json.key("filters");
        self.write_filters(json);
        json.key("pagination").open_object();
        json.key("page").count(self.page.number as u64);
        json.key("per_page").count(self.page.size as u64);
        json.key("last_page").count(self.last_page() as u64);
        json.key("has_prev_page").bool(self.page.number > 1);
        json.key("has_next_page").bool(self.page.number < self.last_page());
        let range = self.page.range(self.total);
        json.key("records").open_object();
        json.key("from").count(if range.is_empty() { 0 } else { range.start as u64 + 1 });
        json.key("to").count(if range.is_empty() { 0 } else { range.end as u64 });
        json.key("records").count(self.total as u64);
        json.close_object();
        json.close_object();
    }

    /// An object, or the empty list that the document gives for no filters.
    fn write_filters(&self, json: &mut Json) {
        if self.filters.is_empty() {
            json.raw("[]");
            return;
        }
        json.open_object();
        for (name, value) in self.filters {
            json.foreign_key(name).text(value);
        }
        json.close_object();
    }
}
