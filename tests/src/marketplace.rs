//! The sandbox, in the test's own process.

use espelho_sandbox::{Options, Sandbox, start};
use tokio::net::TcpListener;

/// Starts a sandbox with one store of this many orders and products, without a limit.
pub async fn sandbox(orders: usize, products: usize) -> Sandbox {
    sandbox_of(Options { orders, products, ..Options::default() }).await
}

/// Starts a sandbox without a limit, for tests that send many requests and do not test the limit.
pub async fn sandbox_of(options: Options) -> Sandbox {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    start(listener, Options { rate: None, ..options }).await.expect("the sandbox starts")
}
