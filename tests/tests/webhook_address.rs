//! The address of a credential's webhook: it is moved only when the operator says so.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use espelho_sandbox::{Options, Sandbox};
use espelho_tests::{Installation, Kind, Running, installation::STORE, on_both_databases, sandbox_of, until};
use serde_json::Value;

on_both_databases![
    a_webhook_is_moved_only_where_the_operator_says_so,
    another_credential_has_a_webhook_of_its_own,
    init_registers_the_webhook_in_its_only_login,
    a_reload_tells_of_an_address_that_it_does_not_move,
    a_move_makes_the_service_read_the_address_first,
];

const OURS: &str = "http://127.0.0.1:9/webhooks/production";
const OTHER: &str = "http://127.0.0.1:9/webhooks/staging";

async fn marketplace() -> Sandbox {
    sandbox_of(Options { orders: 5, products: 2, local_webhooks: true, ..Options::default() }).await
}

fn configure(installation: &Installation, sandbox: &Sandbox, url: &str) {
    let access = sandbox.stores().remove(0);
    let (base, webhook) = (sandbox.base_url(), format!("[webhook]\npublic_url = \"{url}\"\n"));
    installation.write_store_with(STORE, &base, &access.username, &access.password, &webhook);
}

/// Returns the addresses that the marketplace delivers to.
fn addresses(sandbox: &Sandbox) -> Vec<String> {
    let store = sandbox.stores().remove(0).key;
    sandbox.control().webhooks().of_store(&store).into_iter().map(|webhook| webhook.url).collect()
}

// withstands: F037
async fn a_webhook_is_moved_only_where_the_operator_says_so(kind: Kind) {
    let sandbox = marketplace().await;
    let installation = Installation::on(kind).await;
    configure(&installation, &sandbox, OURS);
    installation.resync(&[]).await.expect(0);
    assert_eq!(addresses(&sandbox), [OURS]);
    sandbox.reset_stats();
    assert_eq!(installation.resync(&[]).await.expect(0).store()["logins"], 0, "the address is known");

    // A copy of the installation, database included, with an address of its own.
    let copy = installation.beside();
    configure(&copy, &sandbox, OTHER);
    sandbox.reset_stats();
    let kept = copy.resync(&[]).await.expect(0).says(OURS).says(OTHER).says("espelho webhook move");
    assert_eq!(kept.store()["logins"], 0, "it works on with the token that is there");
    assert_eq!(addresses(&sandbox), [OURS]);
    assert_eq!(installation.resync(&[]).await.expect(0).store()["logins"], 0);

    copy.run(&["webhook", "move", "nowhere"]).await.expect(2).says("There is no store");
    copy.run(&["webhook", "move", STORE]).await.expect(0);
    let moved = copy.resync(&[]).await.expect(0);
    assert_eq!((&moved.store()["logins"], addresses(&sandbox)), (&1.into(), vec![OTHER.to_owned()]));
    installation.resync(&[]).await.says(OTHER);
    assert_eq!(addresses(&sandbox), [OTHER], "nor is it moved back");
    assert_eq!(copy.resync(&[]).await.expect(0).store()["logins"], 0, "it is moved once");
}

async fn another_credential_has_a_webhook_of_its_own(kind: Kind) {
    let sandbox = marketplace().await;
    let installation = Installation::on(kind).await;
    configure(&installation, &sandbox, OURS);
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let attach =
        format!("ATTACH DATABASE '{}-inbox' AS inbox", installation.dir().join("espelho.db").display());
    if kind == Kind::Sqlite {
        mirror.execute(&attach).await;
    }
    mirror.execute("UPDATE webhook_addresses SET username = 'loja-1@ffffffff'").await;
    configure(&installation, &sandbox, OTHER);
    installation.resync(&[]).await.expect(0);
    assert_eq!(addresses(&sandbox), [OTHER]);
}

async fn init_registers_the_webhook_in_its_only_login(kind: Kind) {
    let public_only = Options { orders: 2, products: 2, local_webhooks: false, ..Options::default() };
    let sandbox = sandbox_of(public_only).await;
    let installation = Installation::on(kind).await;
    let access = sandbox.stores().remove(0);
    let password = installation.dir().join("password");
    std::fs::write(&password, access.password.as_bytes()).expect("the folder takes a file");
    std::fs::set_permissions(&password, Permissions::from_mode(0o600)).expect("the file is ours");
    let (base, password) = (sandbox.base_url(), password.display().to_string());
    let init = |url: &'static str, more: &'static [&'static str]| {
        let access = ["--base-url", &base, "--username", &access.username, "--password-file", &password];
        let options = [&["init", "--store", STORE, "--webhook", url][..], &access, more].concat();
        let options: Vec<String> = options.into_iter().map(str::to_owned).collect();
        let installation = &installation;
        async move { installation.run(&options.iter().map(String::as_str).collect::<Vec<_>>()).await }
    };
    let refused = init(OURS, &[]).await.expect(4).stdout;
    assert!(refused.contains("(422) for webhook.url"), "{refused}");
    assert_eq!(addresses(&sandbox), [] as [&str; 0]);

    let public = "https://erp.example.com/webhooks/production";
    sandbox.reset_stats();
    init(public, &["--replace"]).await.expect(0);
    assert_eq!(addresses(&sandbox), [public]);
    assert_eq!(sandbox.stats().logins, 1);
    assert_eq!(installation.resync(&[]).await.expect(0).store()["logins"], 0, "the service needs none");
}

/// Returns a service whose login has registered our address.
async fn registered(kind: Kind) -> (Sandbox, Installation, Running) {
    let sandbox = marketplace().await;
    let installation = Installation::on(kind).await;
    installation.write_main_with_known_port_and("[webhooks]\nlisten = \"127.0.0.1:0\"\n");
    configure(&installation, &sandbox, OURS);
    let service = installation.start(&["run"]);
    until("the webhook is registered", async || addresses(&sandbox) == [OURS]).await;
    (sandbox, installation, service)
}

async fn a_reload_tells_of_an_address_that_it_does_not_move(kind: Kind) {
    let (sandbox, installation, service) = registered(kind).await;
    let to_decide = async || {
        let told = installation.run(&["reload", "--json"]).await.expect(0).json();
        told["to_decide"].as_array().expect("a list").clone()
    };
    assert_eq!(to_decide().await, [] as [Value; 0]);
    configure(&installation, &sandbox, OTHER);
    let told = to_decide().await;
    let [one] = &told[..] else { panic!("{told:?}") };
    let message = one["message"].as_str().unwrap_or_default();
    assert!(message.contains(OURS) && message.contains(OTHER), "{message}");
    assert!(one["next"].as_str().is_some_and(|next| next.contains("webhook move")), "{one}");
    installation.run(&["webhook", "move", "--store", STORE]).await.expect(0);
    assert_eq!(to_decide().await, [] as [Value; 0]);
    until("the webhook is moved", async || addresses(&sandbox) == [OTHER]).await;
    service.terminate().await;
    service.end().await.expect(0);
}

async fn a_move_makes_the_service_read_the_address_first(kind: Kind) {
    let (sandbox, installation, service) = registered(kind).await;
    configure(&installation, &sandbox, OTHER);
    let moved = installation.run(&["webhook", "move", STORE, "--lang", "en"]).await.expect(0);
    assert!(moved.stdout.contains("read the configuration again"), "{moved}");
    until("the webhook is moved", async || addresses(&sandbox) == [OTHER]).await;
    service.terminate().await;
    service.end().await.expect(0);
    let moved = installation.run(&["webhook", "move", STORE, "--lang", "en"]).await.expect(0);
    assert!(moved.stdout.contains("already"), "{moved}");
    configure(&installation, &sandbox, OURS);
    let moved = installation.run(&["webhook", "move", STORE, "--lang", "en"]).await.expect(0);
    assert!(moved.stdout.contains("The next login moves"), "{moved}");
}
