//! The environment that filled a database.

use espelho_store::Error;

use crate::world::{World, minha_loja, store_key};

const URL: &str = "https://marketplace.example";

/// Environment and address of each recorded store.
async fn stamps(world: &World) -> Vec<Vec<Option<String>>> {
    world.tables.texts("SELECT store, environment, base_url FROM stores ORDER BY store").await
}

fn stamp(store: &str, environment: &str, url: &str) -> Vec<Option<String>> {
    [store, environment, url].map(|text| Some(text.to_owned())).to_vec()
}

pub(crate) async fn a_store_is_stamped_once_and_known_ever_after(world: &World) {
    for _ in 0..2 {
        world.store.mirror().identify(&minha_loja(), "production", URL).await.unwrap();
    }
    world.store.mirror().identify(&store_key("outra"), "sandbox", "http://127.0.0.1:1").await.unwrap();
    assert_eq!(
        stamps(world).await,
        [stamp("minha-loja", "production", URL), stamp("outra", "sandbox", "http://127.0.0.1:1")]
    );
}

pub(crate) async fn another_environment_is_refused_and_nothing_changes(world: &World) {
    world.store.mirror().identify(&minha_loja(), "production", URL).await.unwrap();
    match world.store.mirror().identify(&minha_loja(), "sandbox", "http://127.0.0.1:1").await {
        Err(Error::OtherStore { store, kept, configured }) => {
            assert_eq!(store, minha_loja());
            assert_eq!(kept, format!("production ({URL})"));
            assert_eq!(configured, "sandbox (http://127.0.0.1:1)");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(stamps(world).await, [stamp("minha-loja", "production", URL)]);
}

pub(crate) async fn a_moved_marketplace_is_followed(world: &World) {
    for url in [URL, "https://elsewhere.example", "https://elsewhere.example"] {
        world.store.mirror().identify(&minha_loja(), "production", url).await.unwrap();
    }
    assert_eq!(stamps(world).await, [stamp("minha-loja", "production", "https://elsewhere.example")]);
}
