//! The rating of a store, made of the ratings that buyers gave to delivered orders.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _};

use crate::{
    answer::Answer,
    call::Call,
    json::Json,
    money::Milli,
    orders::{Order, vocabulary::Status},
    random::Random,
    refusal::Refusal,
    text::OFFSET,
};

/// One to five stars, with the share of each among a hundred ratings.
const STARS: [(u8, u32); 5] = [(5, 57), (4, 20), (3, 8), (2, 3), (1, 12)];

/// In how many of a thousand cases the buyer rates what was delivered.
const RATED: u64 = 800;

/// Keeps the stars apart from everything else that is drawn from an order.
const TAG: u64 = 0x57A2;

/// The stars of an order, if it was delivered and its buyer rated it.
fn stars(order: &Order) -> Option<u8> {
    if !matches!(order.status, Status::Delivered | Status::Completed) {
        return None;
    }
    let mut random = Random::of(&[order.serial, TAG]);
    random.chance(RATED).then(|| random.weighted(&STARS))
}

/// How many ratings there are of each number of stars, from one.
#[derive(Clone, Copy, Debug, Default)]
struct Ratings([u64; 5]);

impl Ratings {
    fn add(&mut self, stars: u8) {
        if let Some(count) = self.0.get_mut(usize::from(stars).wrapping_sub(1)) {
            *count += 1;
        }
    }

    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Writes `average` (null without ratings) and `total` into an open object.
    fn write(&self, json: &mut Json) {
        let sum: u64 = (1..).zip(self.0).map(|(stars, count): (u64, u64)| stars * count).sum();
        json.key("average");
        match i64::try_from(sum * 1000 / self.total().max(1)) {
            Ok(average) if average > 0 => json.decimal(Milli(average), 2),
            _ => json.null(),
        }
        json.key("total").count(self.total());
    }
}

/// GET the rating.
pub(super) fn summary(call: &Call) -> Result<Answer, Refusal> {
    let mut ratings = Ratings::default();
    call.store()?.orders().iter().filter_map(stars).for_each(|stars| ratings.add(stars));
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        ratings.write(json);
        json.key("distribution").open_object();
        for (name, count) in ["1", "2", "3", "4", "5"].iter().zip(ratings.0) {
            json.key(name).count(count);
        }
        json.close_object();
        json.close_object();
    }))
}

/// GET the ratings of each month in which there were any, newest first.
pub(super) fn history(call: &Call) -> Result<Answer, Refusal> {
    let mut months: BTreeMap<(i32, u32), Ratings> = BTreeMap::new();
    for order in call.store()?.orders().iter() {
        let rated_at = order.delivered_at().unwrap_or(order.updated_at);
        let local = DateTime::from_timestamp(rated_at + OFFSET, 0);
        if let (Some(stars), Some(local)) = (stars(order), local) {
            months.entry((local.year(), local.month())).or_default().add(stars);
        }
    }
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_array();
        for ((year, month), ratings) in months.iter().rev() {
            json.open_object();
            json.key("month").raw_text(&format!("{year:04}-{month:02}"));
            ratings.write(json);
            json.close_object();
        }
        json.close_array();
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ratings: Ratings) -> String {
        let mut json = Json::new(false);
        json.open_object();
        ratings.write(&mut json);
        json.close_object();
        String::from_utf8(json.into_bytes()).unwrap()
    }

    #[test]
    fn the_average_is_that_of_the_stars() {
        assert_eq!(written(Ratings::default()), r#"{"average":null,"total":0}"#);
        let mut ratings = Ratings::default();
        [5, 4, 4, 0, 6].into_iter().for_each(|stars| ratings.add(stars));
        assert_eq!(written(ratings), r#"{"average":4.33,"total":3}"#);
    }
}
