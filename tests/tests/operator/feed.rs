//! `espelho feed`.

use espelho_tests::{Kind, on_both_databases, pages::stopped, shop::Order};
use serde_json::json;

use super::{lines, set_up};

on_both_databases![
    the_feed_tells_what_its_reader_has_not_acknowledged,
    a_followed_feed_tells_what_comes_and_ends_when_told_to,
];

async fn the_feed_tells_what_its_reader_has_not_acknowledged(kind: Kind) {
    let (installation, _shop) = set_up(kind, Order::many(5)).await;
    installation.resync(&[]).await.expect(0);
    let told = installation.run(&["feed"]).await.expect(0);
    assert!(
        told.stdout.starts_with("{\"seq\":1,\"store\":\"loja-1\",\"entity\":\"order\",\"key\":\"P"),
        "{told}"
    );
    let all = lines(&told);
    assert!(all.is_sorted_by_key(|change| change["seq"].as_i64().unwrap()));
    let mut keys: Vec<&str> = all.iter().map(|change| change["key"].as_str().unwrap()).collect();
    // Orders of one page are reported in the order in which their details arrived.
    keys.sort_unstable();
    assert_eq!(keys, ["P00001", "P00002", "P00003", "P00004", "P00005"]);
    let first = all[0].as_object().unwrap();
    assert_eq!(first.len(), 6);
    assert_eq!(
        (&first["store"], &first["entity"], &first["op"]),
        (&json!("loja-1"), &json!("order"), &json!("insert"))
    );
    assert!(first["at"].as_str().unwrap().ends_with('Z'));

    let two = lines(&installation.run(&["feed", "--consumer", "erp", "--limit", "2"]).await.expect(0));
    assert_eq!(two, all[..2]);
    let seq = two[1]["seq"].to_string();
    let told = installation.run(&["feed", "--consumer", "erp", "--ack", &seq]).await.expect(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    let rest = || async { lines(&installation.run(&["feed", "--consumer", "erp"]).await.expect(0)) };
    assert_eq!(rest().await, all[2..]);

    let beyond = (all[4]["seq"].as_i64().unwrap() + 1).to_string();
    let refused = installation.run(&["feed", "--consumer", "erp", "--ack", &beyond]).await.expect(2);
    refused.says(&format!("The feed has not reached {beyond}"));
    for wrong in ["0", "-3", "many"] {
        installation.run(&["feed", "--consumer", "erp", "--ack", wrong]).await.expect(2);
    }
    installation.run(&["feed", "--ack", &seq]).await.expect(2);
    assert_eq!(rest().await, all[2..], "what was refused has acknowledged nothing");
    installation.run(&["feed", "--consumer", "erp", "--ack", "1"]).await.expect(0);
    assert_eq!(rest().await, all[2..], "an acknowledgement is never taken back");
}

async fn a_followed_feed_tells_what_comes_and_ends_when_told_to(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(1)).await;
    installation.resync(&[]).await.expect(0);
    let mut feed = installation.start(&["feed", "--follow"]);
    assert!(feed.line().await.unwrap().contains("P00001"));
    for n in 2..=3 {
        let number = format!("P{n:05}");
        shop.change(|orders| orders.push(Order::ordinary(&number)));
        installation.resync(&[]).await.expect(0);
        assert!(feed.line().await.unwrap().contains(&number));
    }
    assert_eq!(stopped(feed).await.stderr, "");
}

#[tokio::test]
async fn a_followed_feed_ends_with_its_reader() {
    let (installation, _shop) = set_up(Kind::Sqlite, Order::many(3)).await;
    installation.resync(&[]).await.expect(0);
    let (binary, dir) = (espelho_tests::installation::binary(), installation.dir());
    let pipe = format!("'{}' --config '{}' feed --follow | head -n 1", binary.display(), dir.display());
    let run = tokio::process::Command::new("sh").arg("-c").arg(pipe).output();
    // Nothing changes meanwhile: the command has to notice by itself.
    let done = tokio::time::timeout(std::time::Duration::from_secs(30), run).await.unwrap().unwrap();
    assert!(done.status.success());
    assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 1);
    assert_eq!(String::from_utf8(done.stderr).unwrap(), "");
}
